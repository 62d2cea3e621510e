#!/usr/bin/env bash
# Builds the examples with the commands of README.md, in a copy of the sources and with an empty local
# repository, and replaces the examples' folders "target" here: mvn -Pexamples runs what is in them.
# Others' artifacts that the machine's local repository has are not downloaded again.
set -euo pipefail
here=$(CDPATH="" cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
root=$(cd "$here/../.." && pwd -P)
copy=$(mktemp -d "${TMPDIR:-/tmp}/djl-plan-examples.XXXXXX")
trap 'rm -rf "$copy"' EXIT

cat >"$copy/settings.xml" <<EOF
<settings>
  <profiles>
    <profile>
      <id>machine</id>
      <repositories>
        <repository>
          <id>machine</id>
          <url>file://$HOME/.m2/repository</url>
          <releases><checksumPolicy>ignore</checksumPolicy></releases>
          <snapshots><enabled>false</enabled></snapshots>
        </repository>
      </repositories>
      <pluginRepositories>
        <pluginRepository>
          <id>machine</id>
          <url>file://$HOME/.m2/repository</url>
          <releases><checksumPolicy>ignore</checksumPolicy></releases>
          <snapshots><enabled>false</enabled></snapshots>
        </pluginRepository>
      </pluginRepositories>
    </profile>
  </profiles>
  <activeProfiles><activeProfile>machine</activeProfile></activeProfiles>
</settings>
EOF

# documented COMMAND...: runs a command with the empty local repository.
documented() {
    "$@" -B -ntp --settings "$copy/settings.xml" -Dmaven.repo.local="$copy/repository"
}

mkdir "$copy/clone"
tar -C "$root" --exclude=target --exclude=node_modules --exclude=.git --exclude=integration-tests/models -c . |
    tar -x -C "$copy/clone"
cd "$copy/clone"
documented mvn -DskipTests install
for pom in integration-tests/examples/*/pom.xml; do
    example=$(basename "$(dirname "$pom")")
    (cd "integration-tests/examples/$example" && documented mvn package)
    rm -rf "$here/$example/target"
    mv "integration-tests/examples/$example/target" "$here/$example/target"
done
