// Stands for the chat program: it shows what the bot posts, and a person in it who says something and presses a button.
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

type Posted = { readonly thread: string; readonly text: string; readonly buttons?: string };

let bot = "";
async function receive(request: IncomingMessage): Promise<void> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  if (request.url === "/begin") {
    bot = text;
    await send("message", { thread: "T1", message_id: "m1", text: "Please count the files." });
    return;
  }
  const { thread, text: answer, buttons } = JSON.parse(text) as Posted;
  console.log(`${thread} bot: ${answer}${buttons === undefined ? "" : " [yes] [no]"}`);
  if (buttons !== undefined) await send("button", { thread, action_id: buttons, accept: true });
}

async function send(what: string, body: object): Promise<void> {
  const { status } = await fetch(`${bot}/chat/${what}`, { method: "POST", body: JSON.stringify(body) });
  console.log(`T1 person: ${what} ${status}`);
}

const server = createServer((request, response) => {
  response.writeHead(204).end();
  receive(request).catch((error: unknown) => console.error(error));
});
server.listen(0, "127.0.0.1", () => {
  console.log(JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }));
});
