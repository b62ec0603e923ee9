import { anthropic } from "./providers/anthropic.ts";
import { google } from "./providers/google.ts";
import { googleChat } from "./providers/google-chat.ts";
import { openai } from "./providers/openai.ts";
import { openaiResponses } from "./providers/openai-responses.ts";
import type { StrictProvider } from "./strict-provider.ts";

/** Every provider that has a strict double. */
export const strictProviders: readonly StrictProvider[] = [
  openai,
  openaiResponses,
  anthropic,
  google,
  googleChat,
];
