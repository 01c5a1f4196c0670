"""Judges documents by a schema, both named on the command line: prints `valid NAME` or `invalid NAME` for each."""

import sys

import xmlschema

schema = xmlschema.XMLSchema(sys.argv[1])
for name in sys.argv[2:]:
    try:
        valid = schema.is_valid(name)
    except xmlschema.XMLSchemaException:  # not well-formed; xsi:type names nothing
        valid = False
    print("valid" if valid else "invalid", name)
