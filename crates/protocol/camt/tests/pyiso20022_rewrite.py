"""Reads each document named on the command line with pyiso20022 and writes it again beside it, as NAME.again."""

import importlib
import re
import sys

from xsdata.formats.dataclass.parsers import XmlParser
from xsdata.formats.dataclass.serializers import XmlSerializer

for name in sys.argv[1:]:
    with open(name, "rb") as file:
        xml = file.read()
    namespace = re.search(rb"urn:iso:std:iso:20022:tech:xsd:(camt\.[0-9.]+)", xml.replace(b"\0", b""))
    message = namespace[1].decode()
    Document = importlib.import_module("pyiso20022.camt." + message.replace(".", "_")).Document
    document = XmlParser().from_bytes(xml, Document)
    with open(name + ".again", "w", encoding="utf-8") as file:
        file.write(XmlSerializer().render(document, ns_map={None: namespace[0].decode()}))
