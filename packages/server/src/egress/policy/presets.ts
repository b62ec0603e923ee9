import type { NetworkRules } from "@convoke/protocol";

export type Preset = NonNullable<NetworkRules["presets"]>[number];

/** Hosts of public packages and code, by preset. They are read-only: what is published there reaches everybody. */
export const presetHosts: Readonly<Record<Preset, readonly string[]>> = {
  registries: [
    // npm, Yarn, Node itself
    "registry.npmjs.org",
    "registry.yarnpkg.com",
    "nodejs.org",
    // Python
    "pypi.org",
    "files.pythonhosted.org",
    // Rust
    "crates.io",
    "index.crates.io",
    "static.crates.io",
    "static.rust-lang.org",
    // Go
    "proxy.golang.org",
    "sum.golang.org",
    "go.dev",
    "dl.google.com",
    // Ruby
    "rubygems.org",
    "index.rubygems.org",
    // Java
    "repo.maven.apache.org",
    "repo1.maven.org",
    "plugins.gradle.org",
    "plugins-artifacts.gradle.org",
    "services.gradle.org",
    "downloads.gradle.org",
    // Debian and Ubuntu
    "deb.debian.org",
    "security.debian.org",
    "archive.ubuntu.com",
    "*.archive.ubuntu.com",
    "security.ubuntu.com",
    "ports.ubuntu.com",
    // Code hosts, with the hosts of their files and releases
    "github.com",
    "codeload.github.com",
    "raw.githubusercontent.com",
    "objects.githubusercontent.com",
    "release-assets.githubusercontent.com",
    "gitlab.com",
  ],
};

/** The registries of npm, which take lists of packages and answer with known faults of these. */
export const auditHosts: ReadonlySet<string> = new Set(["registry.npmjs.org", "registry.yarnpkg.com"]);
