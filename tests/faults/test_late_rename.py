"""What network shares do: names that are seen late, folders that cannot be synced, locks that are refused."""

import errno
import fcntl
import os
import re
import stat
import sys
import time
import pytest
from forked import finish
from repeats import mixed
from works import assert_equal, assert_goes_on, assert_refused, assert_whole

NAMES = ["make", "evaluate", "publish .tar", "publish .zip", "unpack"]
LATE_S = 0.02


def _absolute(path):
    return os.path.abspath(path)  # noqa: PTH100 - Path would ask the disk


class LateRenames:
    """Each rename takes a while, and for another while the new name is not seen."""

    def __init__(self, delay, hidden):
        self.delay, self.hidden = delay, hidden

    def __call__(self):
        news, usual_stat = {}, os.stat

        def late(rename):
            def renamed(source, target, **options):
                time.sleep(self.delay)
                rename(source, target, **options)
                news[_absolute(target)] = time.monotonic() + self.hidden

            return renamed

        def seen(path, name=None):
            if isinstance(path, (str, os.PathLike)) and time.monotonic() < news.get(_absolute(path), 0):
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fspath(path))

        def look(path, **options):
            seen(path)
            return usual_stat(path, **options)

        os.replace, os.rename, os.stat = late(os.replace), late(os.rename), look
        sys.addaudithook(lambda event, details: seen(details[0]) if event == "open" else None)
        return lambda: len(news)


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
    "late": LateRenames(LATE_S, 0.0),
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


@pytest.mark.parametrize("name", NAMES)
def test_where_new_names_are_not_seen_for_a_while_it_ends_right_or_says_so(stage, name, record_property):
    work = stage.works[name]
    endings = []
    for number in range(stage.size.races):
        place = work.place()
        done = finish(work.arguments, place, LateRenames(0.0, LATE_S * 2**number))
        if done.status != 0:
            assert_refused(done)
            assert re.search("No such file|no checkpoint", done.text)
        assert_whole(place, work.usual[0])
        assert_goes_on(work, place)
        endings.append(done.status == 0)
    record_property("figure", f"late names: {name}: {len(endings)} runs, {sum(endings)} ended right at once")
