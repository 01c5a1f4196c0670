"""Judges documents by a schema with libxml2, for the target `strict_vs_libxml2`.

Reads documents from standard input, each after its length in four bytes, least significant first. Writes "v" for each
valid one and "i" for each other one. The schema is named on the command line.
"""

import ctypes
import ctypes.util
import sys

READ = 1 << 11 | 1 << 6 | 1 << 5  # no network, no warnings, no errors on standard error
NAMESPACE = 3  # XML_FROM_NAMESPACE: the parser goes on after such an error


class Error(ctypes.Structure):
    _fields_ = [("domain", ctypes.c_int), ("code", ctypes.c_int), ("message", ctypes.c_char_p), ("level", ctypes.c_int)]


xml = ctypes.CDLL(ctypes.util.find_library("xml2"))
for name in ("xmlSchemaNewParserCtxt", "xmlSchemaParse", "xmlSchemaNewValidCtxt", "xmlReadMemory"):
    getattr(xml, name).restype = ctypes.c_void_p
xml.xmlSchemaValidateDoc.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
for name in ("xmlFreeDoc", "xmlSchemaParse", "xmlSchemaNewValidCtxt", "xmlSchemaFreeValidCtxt"):
    getattr(xml, name).argtypes = [ctypes.c_void_p]
xml.xmlReadMemory.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int]

errors = []
CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(Error))
note = CALLBACK(lambda _, error: errors.append(error.contents.domain) if error.contents.level > 1 else None)

schema = xml.xmlSchemaParse(xml.xmlSchemaNewParserCtxt(sys.argv[1].encode()))
if not schema:
    sys.exit(f"{sys.argv[1]}: no schema")
xml.xmlSetStructuredErrorFunc(None, note)


def is_valid(document):
    errors.clear()
    tree = xml.xmlReadMemory(document, len(document), None, None, READ)
    if not tree:
        return False
    sound = NAMESPACE not in errors
    judge = xml.xmlSchemaNewValidCtxt(schema)
    valid = sound and xml.xmlSchemaValidateDoc(judge, tree) == 0
    xml.xmlSchemaFreeValidCtxt(judge)
    xml.xmlFreeDoc(tree)
    return valid


while length := sys.stdin.buffer.read(4):
    document = sys.stdin.buffer.read(int.from_bytes(length, "little"))
    sys.stdout.buffer.write(b"v" if is_valid(document) else b"i")
    sys.stdout.buffer.flush()
