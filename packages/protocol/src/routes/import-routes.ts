import { Type } from "typebox";
import { ImportReport } from "../conversation/import.ts";
import { ErrorReply } from "../requests/replies.ts";
import { flag, orAbsent } from "../schema.ts";
import { UploadFileForm } from "../workspace/files.ts";
import { invalid } from "./responses.ts";
import { ok } from "./ok.ts";
import { routesOf } from "./route.ts";

/** Our own: conversations of other servers, and of exports. */
export const importRoutes = routesOf("Conversations", {
  importConversations: {
    method: "POST",
    path: "/api/conversations/import",
    summary: "Import conversations from folders of an agent server, from downloads, and from exports",
    auth: true,
    query: Type.Object({
      dry_run: flag(false),
      new_ids: flag(false),
      working_dir: orAbsent(Type.String({ minLength: 1, maxLength: 4_096 })),
    }),
    form: UploadFileForm,
    responses: {
      ...ok("What came of each conversation.", ImportReport),
      413: { description: "It is larger than the server takes.", schema: ErrorReply },
      ...invalid,
    },
  },
});
