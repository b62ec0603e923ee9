import { Type, type Static } from "typebox";
import { ErrorReply } from "../requests/replies.ts";
import { object } from "../schema.ts";
import { routesOf } from "./route.ts";

/** The conversation of the demo. */
export const DemoStarted = object("DemoStarted", { conversation_id: Type.String({ format: "uuid" }) });
export type DemoStarted = Static<typeof DemoStarted>;

/** Our own: a demo that works without a model. */
export const demoRoutes = routesOf("Demo", {
  startDemo: {
    method: "POST",
    path: "/api/demo",
    summary:
      "Start a conversation whose model is a script and whose tools are real; it asks for one approval",
    auth: true,
    responses: {
      201: { description: "It runs.", schema: DemoStarted },
      403: { description: "The caller may not run agents on this machine.", schema: ErrorReply },
      404: { description: "This server has no demo.", schema: ErrorReply },
      409: { description: "One of the caller's is not at its end yet.", schema: ErrorReply },
    },
  },
});
