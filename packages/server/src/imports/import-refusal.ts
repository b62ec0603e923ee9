import { Fault } from "../lib/fault.ts";

/** One conversation cannot be imported: what in which file is wrong. The others of the upload are not affected. */
export class ImportRefusal extends Error {
  override readonly name = "ImportRefusal";
  readonly code: string;
  readonly file: string | null;
  readonly field: string | null;

  constructor(
    code: string,
    message: string,
    { file = null, field = null }: { readonly file?: string | null; readonly field?: string | null } = {},
  ) {
    super(message);
    this.code = code;
    this.file = file;
    this.field = field;
  }
}

/** The whole upload cannot be read. */
export function unreadableUpload(message: string): Fault {
  return new Fault("caller", "import_unreadable", message);
}

/** A limit of {@link ImportLimits} is exceeded. */
export function uploadTooLarge(message: string): Fault {
  return new Fault("too-large", "import_too_large", message);
}
