// region chat
import OpenAI from "openai";

const openai = new OpenAI({ baseURL: `${process.env["URL"]}/v1`, apiKey: process.env["KEY"] ?? "" });

const { data: models } = await openai.models.list();
console.log("models  ", models.map(({ id }) => id).join(", "));

const question = { role: "user", content: "How many rivers are there?" } as const;
const stream = await openai.chat.completions.create({
  model: "openhands_default",
  messages: [question],
  stream: true,
});
let answer = "";
for await (const chunk of stream) answer += chunk.choices[0]?.delta.content ?? "";
console.log("streamed", answer);

const { choices } = await openai.chat.completions.create({
  model: "openhands_default",
  messages: [
    question,
    { role: "assistant", content: answer },
    { role: "user", content: "Which is the longest?" },
  ],
});
console.log("answered", choices[0]?.message.content);
// endregion chat
