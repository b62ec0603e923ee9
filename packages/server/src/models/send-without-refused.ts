import type { ModelRequest } from "./model.ts";
import type { ModelSettings } from "./model-settings.ts";

/** One request on its way. */
export type Sending<T> = {
  readonly answer: Promise<T>;
  /** Which of the optional fields that were sent a failure of `answer` is about; null when it is about something else. */
  readonly findRefused: (error: unknown) => string | null;
};

export type SendOrder<T> = {
  /**
   * Builds a request without the refused fields and sends it. In a frame of its own, so that nothing holds the body while the answer
   * is waited for.
   */
  readonly begin: (refused: ReadonlySet<string>) => Sending<T>;
  readonly request: ModelRequest;
  readonly settings: ModelSettings;
  /** Fields to leave out; what this request learns is added for later ones. */
  readonly refused: Set<string>;
};

/** Sends a request; leaves out what the provider refuses by name and remembers it for later requests. */
export async function sendWithoutRefused<T>(order: SendOrder<T>): Promise<T> {
  const { begin, request, settings, refused } = order;
  while (true) {
    const { answer, findRefused } = begin(refused);
    try {
      return await answer;
    } catch (error) {
      const field = settings.isUnsupportedDropped ? findRefused(error) : null;
      if (field === null || request.leaving?.aborted === true) throw error;
      refused.add(field);
    }
  }
}
