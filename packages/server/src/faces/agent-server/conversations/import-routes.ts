import { randomUUID } from "node:crypto";
import type { ImportReport, ImportResult, importRoutes } from "@convoke/protocol";
import type { RouteRequest, Handlers, RequestOf } from "../../../http/mount.ts";
import { importLimits } from "../../../imports/import-limits.ts";
import { importUpload, type ImportOutcome } from "../../../imports/import-upload.ts";
import { Fault, invalidField } from "../../../lib/fault.ts";
import type { FaceDeps } from "../../face-deps.ts";
import { configureImport } from "./configure-import.ts";

/** At most so many uploads are read at a time: each is on the disk while it is read. */
const maxAtOnce = 2;

export function importHandlers(deps: FaceDeps) {
  const { uploadLimitBytes: uploadBytes } = deps;
  let running = 0;

  async function importForm(
    request: RequestOf<(typeof importRoutes)["importConversations"]>,
  ): Promise<ImportReport> {
    const { caller, query, signal } = request;
    const { dry_run: isDryRun = false, new_ids: hasNewIds = false, working_dir: workingDir = null } = query;
    const outcomes = await importUpload(
      {
        ...deps,
        limits: { ...importLimits, uploadBytes },
        newId: randomUUID,
        configure: (facts, id) => configureImport(deps, caller, facts, { id, workingDir }),
      },
      caller,
      await fileOf(request),
      { isDryRun, hasNewIds, signal },
    );
    return { results: outcomes.map((outcome) => resultOf(outcome, isDryRun)) };
  }

  return {
    importConversations: async (request) => {
      if (running >= maxAtOnce)
        throw new Fault(
          "not-now",
          "import_busy",
          "Other imports are in progress. Send this one again later.",
          [],
          {
            retryAfterSeconds: 5,
          },
        );
      running += 1;
      try {
        return { json: await importForm(request) };
      } finally {
        running -= 1;
      }
    },
  } satisfies Handlers<typeof importRoutes>;
}

type Upload = { readonly name: string; readonly content: AsyncIterable<Uint8Array> };

async function fileOf({ request }: RouteRequest): Promise<Upload> {
  if (!request.isMultipart()) throw noFile();
  const part = await request.file().catch((cause: unknown) => {
    if (cause instanceof Fault) throw cause;
    throw noFile();
  });
  if (part === undefined) throw noFile();
  return { name: part.filename === "" ? "upload" : part.filename, content: part.file };
}

function noFile(): Fault {
  return invalidField(["body", "file"], "Send a multipart form with one file.", "missing");
}

function resultOf(outcome: ImportOutcome, isDryRun: boolean): ImportResult {
  const none = { code: null, detail: null, file: null, field: null };
  if ("imported" in outcome) {
    const { id, title, events, isNew, warnings } = outcome.imported;
    const done = isDryRun ? "would_import" : "imported";
    const status = isNew ? done : "unchanged";
    const { source } = outcome;
    return { source, status, conversation_id: id, title, events, warnings: [...warnings], ...none };
  }
  const { code, message: detail, file, field } = outcome.refusal;
  const nothing = { conversation_id: null, title: null, events: 0, warnings: [] };
  return { source: outcome.source, status: "refused", ...nothing, code, detail, file, field };
}
