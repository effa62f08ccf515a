"""What network shares do: folders that cannot be synced, locks that are refused."""

import errno
import fcntl
import os
import stat
import pytest
from forked import finish
from repeats import mixed
from works import assert_equal

NAMES = ["make", "evaluate", "publish .tar", "publish .zip", "unpack"]


class NoFolderSync:
    """Folders cannot be synced."""

    def __call__(self):
        usual = os.fsync

        def fsync(handle):
            if stat.S_ISDIR(os.fstat(handle).st_mode):
                raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
            usual(handle)

        os.fsync = fsync


class NoLocks:
    """Locks are refused."""

    def __init__(self, number):
        self.number = number

    def __call__(self):
        def flock(*_):
            raise OSError(self.number, os.strerror(self.number))

        fcntl.flock = flock


MANNERS = {
    "no-folder-sync": NoFolderSync(),
    "no-locks": NoLocks(errno.ENOLCK),
    "locks-not-supported": NoLocks(errno.ENOTSUP),
}


@pytest.mark.parametrize(("name", "manner"), mixed(NAMES, MANNERS))
def test_on_a_share_with_such_manners_the_result_is_the_same(stage, name, manner):
    work = stage.works[name]
    place = work.place()
    done = finish(work.arguments, place, MANNERS[manner])
    assert done.status == 0, done.text
    assert_equal(place, work.usual[0])
