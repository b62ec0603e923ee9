import type { BrowserInput } from "@convoke/protocol";

/** The used fields of a pointer event. */
export type PointerLike = {
  readonly type: string;
  readonly pointerType: string;
  readonly button: number;
  readonly clientX: number;
  readonly clientY: number;
  readonly timeStamp: number;
};

/** The element that shows the picture, and the size of the page in it. */
export type Frame = {
  readonly box: {
    readonly left: number;
    readonly top: number;
    readonly width: number;
    readonly height: number;
  };
  readonly width: number;
  readonly height: number;
};

type Press = { readonly x: number; readonly y: number; readonly atMs: number; readonly clicks: number };

const buttons = ["left", "middle", "right"] as const;
const everyMs = 50;
const doubleMs = 450;
const near = 6;

/** Converts pointer events on the picture to browser input. A finger that drags scrolls, one that taps clicks. */
export class Pointing {
  #last: Press | null = null;
  #finger: { x: number; y: number; isDrawn: boolean } | null = null;
  #movedAtMs = -Infinity;

  inputs(event: PointerLike, frame: Frame): BrowserInput[] {
    const place = placeOf(event, frame);
    if (event.pointerType === "touch") return this.#touch(event, place, frame);
    const button = buttons[event.button] ?? "left";
    switch (event.type) {
      case "pointerdown":
        return [{ type: "mouse", event: "down", ...place, button, clicks: this.#press(event) }];
      case "pointerup":
        return [{ type: "mouse", event: "up", ...place, button, clicks: this.#last?.clicks ?? 1 }];
      case "pointermove":
        if (event.timeStamp - this.#movedAtMs < everyMs) return [];
        this.#movedAtMs = event.timeStamp;
        return [{ type: "mouse", event: "move", ...place, button: "left", clicks: 1 }];
      default:
        return [];
    }
  }

  #touch(event: PointerLike, place: { x: number; y: number }, { box, width }: Frame): BrowserInput[] {
    const { clientX: x, clientY: y } = event;
    if (event.type === "pointerdown") this.#finger = { x, y, isDrawn: false };
    const finger = this.#finger;
    if (finger === null) return [];
    if (event.type === "pointermove") {
      const [dx, dy] = [finger.x - x, finger.y - y];
      if (!finger.isDrawn && Math.hypot(dx, dy) < near) return [];
      finger.isDrawn = true;
      if (event.timeStamp - this.#movedAtMs < everyMs) return [];
      this.#movedAtMs = event.timeStamp;
      this.#finger = { x, y, isDrawn: true };
      const scale = width / box.width;
      return [{ type: "wheel", ...place, dx: dx * scale, dy: dy * scale }];
    }
    if (event.type === "pointerdown") return [];
    this.#finger = null;
    if (finger.isDrawn || event.type !== "pointerup") return [];
    const clicks = this.#press(event);
    return (["down", "up"] as const).map((phase) => ({
      type: "mouse",
      event: phase,
      ...place,
      button: "left",
      clicks,
    }));
  }

  /** The click count: consecutive presses at the same place. */
  #press({ clientX: x, clientY: y, timeStamp: atMs }: PointerLike): number {
    const last = this.#last;
    const isAgain = last !== null && atMs - last.atMs < doubleMs && Math.hypot(x - last.x, y - last.y) < near;
    const clicks = isAgain ? Math.min(last.clicks + 1, 3) : 1;
    this.#last = { x, y, atMs, clicks };
    return clicks;
  }
}

/** The position in page pixels, clamped to the page. */
export function placeOf(
  { clientX, clientY }: Pick<PointerLike, "clientX" | "clientY">,
  { box, width, height }: Frame,
): { x: number; y: number } {
  const within = (value: number, limit: number): number =>
    Math.round(Math.min(Math.max(value, 0), limit - 1));
  return {
    x: within(((clientX - box.left) * width) / box.width, width),
    y: within(((clientY - box.top) * height) / box.height, height),
  };
}
