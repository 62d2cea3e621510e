#!/usr/bin/env bash
# Builds a release as CONTRIBUTING.md says, with a key that is thrown away, into the file repository
# target/staged; and once more from another folder, into target/again. mvn -Ppublishing looks at both.
set -euo pipefail
here=$(CDPATH="" cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
root=$(cd "$here/../.." && pwd -P)
target=$here/target
version=$(sed -n 's|^ *<revision>\(.*\)-SNAPSHOT</revision>|\1|p' "$root/pom.xml")

rm -rf "$target"
mkdir -p "$target"
# A path for the agent's socket must be short.
GNUPGHOME=$(mktemp -d)
export GNUPGHOME
copy=$(mktemp -d "${TMPDIR:-/tmp}/djl-plan-release.XXXXXX")
trap 'gpgconf --kill gpg-agent || true; rm -rf "$GNUPGHOME" "$copy"' EXIT
gpg --quiet --batch --pinentry-mode loopback --passphrase '' \
    --quick-generate-key "Thrown away <nobody@djl-plan.invalid>" rsa3072 sign 1d
gpg --armor --export >"$target/key.asc"

# release REPOSITORY [OPTION...]: builds a copy of the sources, in a folder with the repository's name.
release() {
    local repository=$1
    mkdir "$copy/$repository"
    tar -C "$root" --exclude=target --exclude=node_modules --exclude=.git --exclude=integration-tests/models -c . |
        tar -x -C "$copy/$repository"
    (
        cd "$copy/$repository"
        mvn -T1 -B -ntp -q deploy -Prelease,publish -Drevision="$version" -Dmaven.test.skip=true -Dmaven.install.skip=true \
            -Dpublisher.url=https://djl-plan.invalid -Dpublisher.git=https://djl-plan.invalid/djl-plan.git \
            -DaltDeploymentRepository="$repository::file://$target/$repository" \
            -pl djl-memplan/thirdparty,djl-memplan,djl-delegation,distribution/bom,distribution/command "${@:2}"
    )
}

# Both at once: each takes one core most of the time.
release again -Dgpg.skip=true -Dspotless.check.skip=true &
again=$!
release staged
wait "$again"
