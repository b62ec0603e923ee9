import type { WebhookTrigger } from "@convoke/protocol";

/** The fields of the form as texts. */
export type WebhookDraft = {
  readonly form: WebhookTrigger["form"];
  /** With commas between them, as the next. */
  readonly events: string;
  readonly branches: string;
  /** One condition in each line: `pull_request.draft = false`. */
  readonly fields: string;
  readonly signatureHeader: string;
  readonly timestampHeader: string;
  readonly idHeader: string;
  readonly eventHeader: string;
};

export const newWebhook: WebhookDraft = {
  form: "github",
  events: "",
  branches: "",
  fields: "",
  signatureHeader: "",
  timestampHeader: "",
  idHeader: "",
  eventHeader: "",
};

export function toWebhook(draft: WebhookDraft): WebhookTrigger {
  const header = (name: string, text: string): object => (text.trim() === "" ? {} : { [name]: text.trim() });
  return {
    kind: "webhook",
    form: draft.form,
    events: listOf(draft.events),
    branches: listOf(draft.branches),
    fields: conditionsOf(draft.fields),
    ...(draft.form === "hmac" && {
      ...header("signature_header", draft.signatureHeader),
      ...header("timestamp_header", draft.timestampHeader),
      ...header("id_header", draft.idHeader),
      ...header("event_header", draft.eventHeader),
    }),
  };
}

export function fromWebhook(trigger: WebhookTrigger): WebhookDraft {
  const { form, events = [], branches = [], fields = [] } = trigger;
  return {
    form,
    events: events.join(", "),
    branches: branches.join(", "),
    fields: fields.map(({ path, one_of: values }) => `${path} = ${values.map(shown).join(" | ")}`).join("\n"),
    signatureHeader: trigger.signature_header ?? "",
    timestampHeader: trigger.timestamp_header ?? "",
    idHeader: trigger.id_header ?? "",
    eventHeader: trigger.event_header ?? "",
  };
}

type Condition = NonNullable<WebhookTrigger["fields"]>[number];
type Value = Condition["one_of"][number];

function listOf(text: string): string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

/** A line without `=` has no value, which the server refuses by its line. */
function conditionsOf(text: string): Condition[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines.map((line) => {
    const at = line.indexOf("=");
    if (at < 0) return { path: line.trim(), one_of: [] };
    const values = line.slice(at + 1).split("|");
    return { path: line.slice(0, at).trim(), one_of: values.map((value) => valueOf(value.trim())) };
  });
}

/** Texts need quotation marks only where they would be read as another type. */
function valueOf(text: string): Value {
  if (!/^(?:true|false|null|-?\d+(?:\.\d+)?|".*")$/.test(text)) return text;
  try {
    return JSON.parse(text) as Value;
  } catch {
    // It only looks like JSON, such as "a"b", and is a text.
    return text;
  }
}

function shown(value: Value): string {
  if (typeof value !== "string") return JSON.stringify(value);
  return value === valueOf(value) && value === value.trim() && !value.includes("|")
    ? value
    : JSON.stringify(value);
}
