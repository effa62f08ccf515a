"""`salgen annotate` in a process of its own, and its page in a browser."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
import numpy as np
from own_image_files import H, W, write_images
import salgen
from salgen.datasets.annotation.drawn_masks import DrawnMasks


def served(arguments):
    """A command that serves a page, in a process of its own, and the port that it says."""
    path = os.pathsep.join([str(Path(salgen.__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "salgen.cli.main", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path})
    return process, int(re.search(r"127\.0\.0\.1:(\d+)/", process.stdout.readline())[1])


ITEMS = ["cat/a0.png", "cat/b1.png", "dog/a1.png", "dog/b0.png"]


class Server:
    """`salgen annotate` on images of 28 x 20 pixels; it can be killed and started again."""

    def __init__(self, folder):
        self.images, self.out, self.port, self.process = folder / "photos", folder / "photos-annotated", 0, None
        write_images(self.images, ITEMS)
        self.start()

    def start(self):
        command = ["annotate", str(self.images), "--port", str(self.port)]
        command += ["--set", "image_size=20,28", "--set", "min_mask=1", "--set", "shares=0,0,1"]
        self.process, self.port = served(command)
        self.url = f"http://127.0.0.1:{self.port}/"

    def kill(self, how=signal.SIGKILL):
        self.process.send_signal(how)
        self.process.wait()
        self.process.stdout.close()

    @property
    def masks(self):
        return DrawnMasks(self.out.with_name("photos-annotated-source") / "masks")


class Page:
    """A page of the server, in a browser profile of its own, whose mouse is told pixels of the image."""

    def __init__(self, browser, server, annotator, **options):
        self.server, self.annotator, self.said = server, annotator, []
        self.context = browser.new_context(viewport={"width": 900, "height": 800}, **options)
        self.again()

    def again(self):
        """Open a tab."""
        self.page = self.context.new_page()
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.goto(f"{self.server.url}?annotator={self.annotator}")
        self.ready()

    def ready(self):
        self.page.wait_for_function("() => mask !== null")

    def place(self, x, y):
        """Where a point of the image is on the page."""
        box = self.page.locator("#mask").bounding_box()
        return box["x"] + x * box["width"] / W, box["y"] + y * box["height"] / H

    def stroke(self, *points):
        self.page.mouse.move(*self.place(*points[0]))
        self.page.mouse.down()
        for point in points[1:]:
            self.page.mouse.move(*self.place(*point))
        self.page.mouse.up()

    def size(self, pixels):
        self.page.locator("#size").fill(str(pixels))

    def status(self, text, timeout=20_000):
        self.page.wait_for_function(
            "text => document.getElementById('saved').textContent.includes(text)", arg=text, timeout=timeout
        )

    def saved(self):
        self.page.wait_for_function(
            "() => !unsaved.size && !sending && document.getElementById('saved').textContent === 'saved'"
        )

    def stored(self, item=ITEMS[0]):
        return self.server.masks.read(self.annotator, item)

    def shown(self):
        """What the canvas shows, bool (20, 28)."""
        script = "() => [...context.getImageData(0, 0, width, height).data].filter((_, i) => i % 4 === 3)"
        return np.array(self.page.evaluate(script)).reshape(H, W) > 0
