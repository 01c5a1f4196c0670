"""Every state that the files of a traced process may have after a loss of power.

A trace is strace's. What was synced is there. Of what was written since, each write is there, or not, or in part: a
sector of 512 bytes is whole. Names and sizes change in their order (as a journalled file system does it), but no
earlier than what was synced: creating, renaming and removing a file counts as done only after its folder was synced,
which is less than ext4 and XFS promise. Of a file that grew, the new part may be zeros.
"""

import hashlib
import os
import random
import re

SECTOR = 512
# The writes that are all left out and tried alone.
MOST = 60
CALLS = "openat,write,pwrite64,writev,pwritev,ftruncate,fallocate,fsync,fdatasync,unlink,unlinkat,rename,renameat,renameat2"
WHOLE = re.compile(r"^(\d+) +(\w+)\((.*)\) += (-?\w+)(.*)$", re.S)
BEGUN = re.compile(r"^(\d+) +(\w+)\((.*) <unfinished \.\.\.>$", re.S)
ENDED = re.compile(r"^(\d+) +<\.\.\. (\w+) resumed>(.*)\) += (-?\w+)(.*)$", re.S)


def command(trace, *program):
    return ["strace", "-f", "-y", "-xx", "-s", "100000000", "-e", f"trace={CALLS}", "-o", trace, *program]


class Event:
    """A call that changes a file or a name, or waits until that is on the disk."""

    def __init__(self, kind, path, line, **more):
        self.kind, self.path, self.begun, self.done = kind, path, line, None
        self.__dict__.update(more)


def events(trace):
    """The calls that have succeeded, in the order in which they began; those that sync, in which they ended."""
    found, open_calls = [], {}
    with open(trace) as lines:
        for number, line in enumerate(lines):
            line = line.rstrip("\n")
            if ended := ENDED.match(line):
                process, name, _, code, more = ended.groups()
                event, arguments = open_calls.pop((process, name), (None, ""))
                finish(found, event, name, arguments, code, more, number)
            elif begun := BEGUN.match(line):
                process, name, arguments = begun.groups()
                event = begin(name, arguments, number)
                open_calls[process, name] = event, arguments
                if event and event.kind != "sync":
                    found.append(event)
            elif whole := WHOLE.match(line):
                _, name, arguments, code, more = whole.groups()
                event = begin(name, arguments, number)
                if event and event.kind != "sync":
                    found.append(event)
                finish(found, event, name, arguments, code, more, number)
    # What had not ended when the process did may have failed.
    return [event for event in found if event.done is not None]


def begin(name, arguments, line):
    first = arguments.split("<", 1)[1].split(">", 1)[0] if "<" in arguments else ""
    if name in ("write", "pwrite64"):
        quoted = arguments.split('"')
        place = int(quoted[2].split(",")[2]) if name == "pwrite64" else None
        return Event("write", text(first), line, data=octets(quoted[1]), place=place)
    if name == "ftruncate":
        return Event("size", text(first), line, size=int(arguments.rsplit(",", 1)[1]))
    if name in ("fsync", "fdatasync"):
        return Event("sync", text(first), line)
    if name == "unlink":
        return Event("unlink", text(arguments.split('"')[1]), line)
    if name == "rename":
        quoted = arguments.split('"')
        return Event("rename", text(quoted[1]), line, to=text(quoted[3]))
    if name == "openat" and "O_CREAT" in arguments:
        return Event("create", text(arguments.split('"')[1]), line)
    # No such call is expected on the files; `Disk.apply` would not know what it does.
    return Event("unknown", text(first), line, name=name) if name != "openat" else None


def finish(found, event, name, arguments, code, more, line):
    if event is None:
        return
    if code.startswith("-"):
        if event in found:
            found.remove(event)
        return
    event.done = line
    if event.kind == "write":
        event.data = event.data[: int(code)]
    if event.kind == "sync":
        found.append(event)


def octets(quoted):
    return bytes.fromhex(quoted.replace("\\x", ""))


def text(quoted):
    return octets(quoted).decode() if quoted.startswith("\\x") else quoted


class File:
    """A file's content on the disk, and the writes since."""

    def __init__(self):
        self.durable, self.pending, self.live = bytearray(), [], bytearray()

    def change(self, event):
        if event.kind == "write":
            if event.place is None:
                event.place = len(self.live)
            put(self.live, event.place, event.data)
        else:
            resize(self.live, event.size)
        self.pending.append(event)

    def sync(self, begun):
        """What was done before a sync began is on the disk after it."""
        kept = []
        for event in self.pending:
            if event.done > begun or kept:
                kept.append(event)
            elif event.kind == "write":
                put(self.durable, event.place, event.data)
            else:
                resize(self.durable, event.size)
        self.pending = kept

    def after(self, chosen, zeros):
        """The content if these writes reached the disk: of each, the sectors that `chosen` names, or all of them."""
        image, cache = bytearray(self.durable), bytearray(self.durable)
        for event in self.pending:
            if event.kind == "size":
                if event not in chosen:
                    # What comes after it in this file was not on the disk before it.
                    break
                resize(cache, event.size)
                resize(image, event.size)
                continue
            put(cache, event.place, event.data)
            if event in chosen:
                first, last = event.place // SECTOR, (event.place + len(event.data) - 1) // SECTOR
                wanted = chosen[event]
                for sector in range(first, last + 1):
                    if wanted is None or sector - first in wanted:
                        part = cache[sector * SECTOR : (sector + 1) * SECTOR]
                        put(image, sector * SECTOR, part)
        if zeros and len(image) < len(cache):
            resize(image, len(cache))
        return bytes(image)


def put(content, place, data):
    if len(content) < place + len(data):
        content.extend(bytes(place + len(data) - len(content)))
    content[place : place + len(data)] = data


def resize(content, size):
    if size < len(content):
        del content[size:]
    else:
        content.extend(bytes(size - len(content)))


class Disk:
    """The files of a folder, while the events of a trace are applied. Names that `ignored` matches are left out."""

    def __init__(self, folder, ignored=r"-shm$", honest=True):
        self.folder, self.ignored, self.honest = str(folder), re.compile(ignored), honest
        self.names, self.live_names, self.pending = {}, {}, []

    def holds(self, path):
        return os.path.dirname(path) == self.folder and not self.ignored.search(path)

    def apply(self, event):
        if event.kind == "sync":
            # A disk that lies says that it has written.
            if self.honest and event.path == self.folder:
                done = [change for change in self.pending if change[0] < event.begun]
                self.pending = self.pending[len(done) :]
                for _, change, *arguments in done:
                    change(self.names, *arguments)
            elif self.honest and self.holds(event.path) and event.path in self.live_names:
                self.live_names[event.path].sync(event.begun)
        elif event.kind == "rename":
            if self.holds(event.path) or self.holds(event.to):
                self.rename(event, moved, event.path, event.to)
        elif self.holds(event.path):
            if event.kind == "create":
                if event.path not in self.live_names:
                    self.rename(event, named, event.path, File())
            elif event.kind == "unlink":
                self.rename(event, removed, event.path)
            elif event.kind in ("write", "size"):
                self.live_names[event.path].change(event)
            else:
                raise ValueError(f"a call that is not expected on {event.path}: {event.name}")

    def rename(self, event, change, *arguments):
        change(self.live_names, *arguments)
        self.pending.append((event.done, change, *arguments))

    def live(self):
        return {path: bytes(file.live) for path, file in self.live_names.items()}

    def files(self):
        """The files that have a name, had one, or may have one again."""
        found = dict.fromkeys([*self.names.values(), *self.live_names.values()])
        found.update(dict.fromkeys(file for _, _, *rest in self.pending for file in rest if isinstance(file, File)))
        return list(found)

    def image(self, chosen, renames, zeros=False):
        names = dict(self.names)
        for _, change, *arguments in self.pending[:renames]:
            change(names, *arguments)
        return {path: file.after(chosen, zeros) for path, file in names.items()}

    def states(self, random, exhaustive, samples):
        """Images that the disk may have now: of up to `exhaustive` writes all subsets, of more writes some."""
        writes = sorted((event for file in self.files() for event in file.pending), key=lambda event: event.begun)
        every, last = dict.fromkeys(writes), len(self.pending)
        some = lambda part: {event: None for event in part}  # noqa: E731
        for renames in range(last + 1):
            for chosen in ({}, every, some(event for event in writes if random.random() < 0.5)):
                yield self.image(chosen, renames)
                yield self.image(chosen, renames, zeros=True)
        if len(writes) <= exhaustive:
            for mask in range(1 << len(writes)):
                yield self.image(some(event for bit, event in enumerate(writes) if mask >> bit & 1), last)
        else:
            # Every write of a transaction; of many transactions without a sync, the last writes and some before them.
            places = range(len(writes))
            if len(writes) > 2 * MOST:
                places = sorted({*random.sample(places[:-MOST], MOST), *places[-MOST:]})
            for place in places:
                event = writes[place]
                yield self.image(some(writes[:place]), last)
                yield self.image(some(other for other in writes if other is not event), last)
                yield self.image(some([event]), last)
            for _ in range(samples):
                share = random.choice((0.1, 0.5, 0.9))
                yield self.image(some(event for event in writes if random.random() < share), random.randint(0, last))
        # The last ones are torn: they are what decides whether a transaction counts.
        torn = [event for event in writes if event.kind == "write" and len(event.data) > SECTOR][-4:]
        for event in torn:
            sectors = len(event.data) // SECTOR + 1
            before = some(writes[: writes.index(event)])
            for part in (range(sectors // 2), range(sectors // 2, sectors), range(1, sectors), range(sectors - 1)):
                yield self.image(before | {event: set(part)}, last)
                yield self.image(every | {event: set(part)}, last)
            for _ in range(samples // 8):
                part = {sector for sector in range(sectors) if random.random() < 0.5}
                yield self.image(every | {event: part}, last)
        yield self.image({event: None for event in writes[:-1]}, last, zeros=True)


def named(names, path, file):
    names[path] = file


def removed(names, path):
    names.pop(path, None)


def moved(names, path, to):
    if path in names:
        names[to] = names.pop(path)


def digest(image):
    hasher = hashlib.blake2b(digest_size=16)
    for path in sorted(image):
        hasher.update(f"{path} {len(image[path])} ".encode())
        hasher.update(image[path])
    return hasher.digest()


def seeded(seed):
    return random.Random(seed)
