import { Type, type Static } from "typebox";
import { orNull } from "../schema.ts";
import { observation } from "./observation-fields.ts";

/** The result of a browser action; the screenshot is the base64 of a PNG. */
export const BrowserObservation = observation("BrowserObservation", {
  screenshot_data: orNull(Type.String()),
  full_output_save_dir: orNull(Type.String(), {
    description: "Folder that holds screenshots and long output.",
  }),
});
export type BrowserObservation = Static<typeof BrowserObservation>;
