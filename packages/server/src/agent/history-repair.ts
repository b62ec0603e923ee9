import type { Event, ImageContent, Observation, TextContent } from "@convoke/protocol";
import { text } from "./observation-content.ts";

const imageNotice = "[An image was here. The provider could not read it, so it was taken out.]";
const resultNotice =
  "[The result of this call was taken out because the provider refused it. What the call did has happened. " +
  "If you need the output, get it in another form, for example in smaller parts or as plain text.]";

/** A copy of an event without what a provider may have refused; the stored event stays as it is (P12). */
export function repairEvent(event: Event): Event {
  switch (event.kind) {
    case "MessageEvent": {
      const { llm_message: message } = event;
      const content = (message.content ?? []).map(repairPart);
      const { responses_reasoning_item: _item, ...rest } = message;
      return {
        ...event,
        llm_message: { ...rest, content, thinking_blocks: [] },
        extended_content: (event.extended_content ?? []).map((part) => ({ ...part, text: plain(part.text) })),
      };
    }
    case "ActionEvent": {
      const { responses_reasoning_item: _item, ...rest } = event;
      const thought = event.thought.map((part) => ({ ...part, text: plain(part.text) }));
      return { ...rest, thought, thinking_blocks: [] };
    }
    case "ObservationEvent": {
      const { observation } = event;
      const parts = observation.content ?? [];
      if (hasScreenshot(observation)) {
        const content = [...parts.map(repairPart), text(imageNotice)];
        return {
          ...event,
          observation: { ...observation, content, screenshot_data: null } as typeof observation,
        };
      }
      const content = parts.some(isImage) ? parts.map(repairPart) : [text(resultNotice)];
      return { ...event, observation: { ...observation, content } as typeof observation };
    }
    case "AgentErrorEvent":
      return { ...event, error: plain(event.error) };
    default:
      return event;
  }
}

/** True when the model reads images of this event. */
export function hasImages(event: Event): boolean {
  if (event.kind === "MessageEvent") return (event.llm_message.content ?? []).some(isImage);
  if (event.kind !== "ObservationEvent") return false;
  return (event.observation.content ?? []).some(isImage) || hasScreenshot(event.observation);
}

function hasScreenshot(observation: Observation): boolean {
  return observation.kind === "BrowserObservation" && (observation.screenshot_data ?? "") !== "";
}

function isImage(part: TextContent | ImageContent): part is ImageContent {
  return "image_urls" in part;
}

function repairPart(part: TextContent | ImageContent): TextContent {
  return isImage(part) ? text(imageNotice) : { ...part, text: plain(part.text) };
}

/** Without control characters and halves of surrogate pairs, which some providers take for a broken request. */
function plain(content: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for.
  return content.toWellFormed().replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/gu, "");
}
