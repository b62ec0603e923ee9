/**
 * npm packages that stay outside the bundled command and are installed beside it: they bring compiled files, or find files
 * of their own by address. Every other package is bundled, because one file loads many times faster than a thousand.
 */
export const unbundledPackages: readonly string[] = [
  "@lydell/node-pty",
  "@rrweb/record",
  "@vscode/ripgrep",
  "playwright-core",
];
