#!/bin/sh
# Compiles the program if a source is newer than it.
set -e
cd "$(dirname "$0")"
if [ -f classes/Receiver.class ] && [ -z "$(find . -maxdepth 1 -name '*.java' -newer classes/Receiver.class)" ]; then
    exit 0
fi
jars=/usr/share/java
new=classes.$$
trap 'rm -rf "$new"' EXIT
javac -d "$new" -cp "$jars/jackson-core.jar:$jars/jackson-databind.jar:$jars/jackson-annotations.jar" *.java 1>&2
rm -rf classes
mv "$new" classes
