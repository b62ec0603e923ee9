/**
 * npm packages that are installed beside the bundled command: they contain compiled files, or find files of their own by
 * address. Every other package is bundled, because one file loads much faster than a thousand.
 */
export const unbundledPackages: readonly string[] = [
  "@lydell/node-pty",
  "@vscode/ripgrep",
  "playwright-core",
];
