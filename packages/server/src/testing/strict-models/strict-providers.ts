import { anthropic } from "./providers/anthropic.ts";
import { azure } from "./providers/azure.ts";
import { bedrock } from "./providers/bedrock.ts";
import { dashscope } from "./providers/dashscope.ts";
import { deepseek, deepseekAlias, deepseekOlder } from "./providers/deepseek.ts";
import { fireworks } from "./providers/fireworks.ts";
import { glm } from "./providers/glm.ts";
import { google } from "./providers/google.ts";
import { googleChat } from "./providers/google-chat.ts";
import { groq, groqKimi } from "./providers/groq.ts";
import { llamaCpp } from "./providers/llama-cpp.ts";
import { lmStudio } from "./providers/lm-studio.ts";
import { mimo } from "./providers/mimo.ts";
import { mistral } from "./providers/mistral.ts";
import { moonshot } from "./providers/moonshot.ts";
import { ollama } from "./providers/ollama.ts";
import { openai } from "./providers/openai.ts";
import { openaiResponses } from "./providers/openai-responses.ts";
import { openrouter } from "./providers/openrouter.ts";
import { sglang } from "./providers/sglang.ts";
import { together } from "./providers/together.ts";
import { vllm } from "./providers/vllm.ts";
import type { StrictProvider } from "./strict-provider.ts";

/** Every provider that has a strict double. */
export const strictProviders: readonly StrictProvider[] = [
  openai,
  openaiResponses,
  azure,
  anthropic,
  google,
  googleChat,
  mistral,
  deepseek,
  deepseekAlias,
  deepseekOlder,
  mimo,
  moonshot,
  dashscope,
  glm,
  groq,
  groqKimi,
  together,
  fireworks,
  openrouter,
  bedrock,
  vllm,
  sglang,
  llamaCpp,
  ollama,
  lmStudio,
];
