"""Reads each document named on the command line with pyiso20022 and writes it again beside it, as NAME.again."""

import sys

from pyiso20022.camt.camt_052_001_06 import Document
from xsdata.formats.dataclass.parsers import XmlParser
from xsdata.formats.dataclass.serializers import XmlSerializer

NAMESPACE = "urn:iso:std:iso:20022:tech:xsd:camt.052.001.06"

for name in sys.argv[1:]:
    with open(name, "rb") as file:
        document = XmlParser().from_bytes(file.read(), Document)
    with open(name + ".again", "w", encoding="utf-8") as file:
        file.write(XmlSerializer().render(document, ns_map={None: NAMESPACE}))
