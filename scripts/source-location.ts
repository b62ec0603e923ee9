/** Position of a source file in the layers. */
export type SourceLocation = {
  /** Slash path relative to the root. */
  readonly file: string;
  /** Folder under `packages/`, null for a file outside the packages. */
  readonly packageName: string | null;
  /** `src`, `scripts`, ... inside a package; the first folder otherwise. */
  readonly area: string;
  readonly isInSource: boolean;
  /** First folder under `src/`, null for files directly in it. */
  readonly folder: string | null;
  /** A test, or a part (`contract.ts`, `contract-*.ts`) of the suite that every backend of a seam passes. */
  readonly isTest: boolean;
  /** True for test doubles: files below a folder named `testing`. */
  readonly isTesting: boolean;
};

/** Parses the slash path of a file, relative to the root. */
export function locateSource(file: string): SourceLocation {
  const segments = file.split("/");
  const packageName = segments[0] === "packages" ? (segments[1] ?? null) : null;
  const area = (packageName === null ? segments[0] : segments[2]) ?? "";
  const isInSource = packageName !== null && area === "src";
  const folder = isInSource && segments.length > 4 ? (segments[3] ?? null) : null;
  return {
    file,
    packageName,
    area,
    isInSource,
    folder,
    isTest: /\.test\.tsx?$|\/contract(?:-[a-z-]+)?\.ts$/.test(file) || area === "e2e",
    isTesting: isInSource && segments.slice(3, -1).includes("testing"),
  };
}
