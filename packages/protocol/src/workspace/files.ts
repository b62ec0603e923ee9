import { Type, type Static } from "typebox";
import { object } from "../schema.ts";

/** The multipart form that uploads one file. */
export const UploadFileForm = object("Body_upload_file_api_file_upload__path__post", {
  file: Type.String({ format: "binary" }),
});
export type UploadFileForm = Static<typeof UploadFileForm>;
