// Does what the page does: two messages, the second one sent twice, and what comes back.
const bot = process.env["BOT"] ?? "";
const id = crypto.randomUUID();

async function say(text: string, messageId: string = crypto.randomUUID()): Promise<void> {
  const body = JSON.stringify({ message_id: messageId, text });
  const { status } = await fetch(`${bot}/messages?conversation=${id}`, { method: "POST", body });
  console.log("sent    ", status, text);
}

/** Messages behind `after`, until the agent has answered. Resolves with the id of the last one. */
async function listen(after: string | null): Promise<string> {
  const stop = new AbortController();
  const headers: Record<string, string> = after === null ? {} : { "last-event-id": after };
  const reply = await fetch(`${bot}/answers?conversation=${id}`, { headers, signal: stop.signal });
  let text = "";
  for await (const chunk of reply.body!.pipeThrough(new TextDecoderStream())) {
    const events = `${text}${chunk}`.split("\n\n");
    text = events.pop()!;
    for (const event of events) {
      const field = (name: string): string => new RegExp(`^${name}: (.*)$`, "m").exec(event)?.[1] ?? "";
      if (field("event") !== "message") continue;
      const message = JSON.parse(field("data")) as { from: string; text: string };
      console.log("received", message.from, message.text);
      if (message.from !== "agent") continue;
      stop.abort();
      return field("id");
    }
  }
  throw new Error("the bot ended the stream");
}

await say("Hello, when do you open?");
const last = await listen(null);
await say("What is a new chain?", "chain");
await say("What is a new chain?", "chain");
await listen(last);
const { status } = await fetch(`${bot}/answers?conversation=${crypto.randomUUID()}`);
console.log("stranger", status);
