import { Type } from "typebox";
import { ErrorReply, FileUploadResult } from "../requests/replies.ts";
import { choice, flag, orAbsent } from "../schema.ts";
import { HomeResponse, SubdirectoryPage } from "../workspace/file-browser.ts";
import { UploadFileForm } from "../workspace/files.ts";
import { conversationParams, pageLimit } from "./parameters.ts";
import { done, invalid, machineRefusals, noConversation, pathRefusals } from "./responses.ts";
import { ok } from "./ok.ts";
import { routesOf } from "./route.ts";

const prefix = "/api/file";
const inQuery = { query: Type.Object({ path: Type.String() }) };
const inPath = { params: Type.Object({ path: Type.String() }), restParameter: "path" } as const;
const hidden = flag(false, { description: "Names that begin with a dot too." });

const upload = {
  method: "POST",
  summary: "Write a file, with the directories above it; the form's first file is its content",
  auth: true,
  form: UploadFileForm,
  responses: {
    ...machineRefusals,
    ...pathRefusals,
    413: { description: "The file is larger than the server takes.", schema: ErrorReply },
    ...invalid,
  },
} as const;
const download = {
  method: "GET",
  summary: "Read a file, or with a Range header a part of it",
  auth: true,
  responses: {
    200: { description: "The bytes." },
    206: { description: "The part that was asked for." },
    304: { description: "It is what the caller has already." },
    ...machineRefusals,
    ...pathRefusals,
    416: { description: "The file has no such part.", schema: ErrorReply },
    ...invalid,
  },
} as const;

/** Files of the tools' machine. Source: agent server 0.1.0 (path forms) and 1.43 (query forms). */
export const fileRoutes = routesOf("Files", {
  uploadFile: {
    ...upload,
    path: `${prefix}/upload`,
    ...inQuery,
    responses: { ...ok("The file is written.", FileUploadResult), ...upload.responses },
  },
  uploadFileByPath: {
    ...upload,
    path: `${prefix}/upload/{path}`,
    ...inPath,
    responses: { ...done, ...upload.responses },
  },
  downloadFile: { ...download, path: `${prefix}/download`, ...inQuery },
  downloadFileByPath: { ...download, path: `${prefix}/download/{path}`, ...inPath },
  createDirectory: {
    method: "POST",
    path: `${prefix}/create_directory`,
    summary: "Make a directory and those above it; one that is there is fine",
    auth: true,
    ...inQuery,
    responses: { ...done, ...machineRefusals, ...pathRefusals, ...invalid },
  },
  getHome: {
    method: "GET",
    path: `${prefix}/home`,
    summary: "Where a file browser starts",
    auth: true,
    query: Type.Object({ include_hidden: hidden }),
    responses: {
      ...ok("The places.", HomeResponse),
      ...machineRefusals,
      404: { description: "The person that the server runs for has no home.", schema: ErrorReply },
      ...invalid,
    },
  },
  searchSubdirectories: {
    method: "GET",
    path: `${prefix}/search_subdirs`,
    summary: "Page through the directories in a directory, by name",
    auth: true,
    query: Type.Object({
      path: Type.String(),
      page_id: orAbsent(Type.String()),
      limit: pageLimit,
      include_hidden: hidden,
    }),
    responses: {
      ...ok("A page of directories.", SubdirectoryPage),
      ...machineRefusals,
      ...pathRefusals,
      ...invalid,
    },
  },
  archiveDirectory: {
    method: "GET",
    path: `${prefix}/archive`,
    summary: "A directory as one compressed file",
    auth: true,
    query: Type.Object({
      path: Type.String(),
      format: Type.Optional(choice(["git-delta", "tar.gz", "zip"], { default: "git-delta" })),
      base_ref: orAbsent(Type.String()),
      use_default_excludes: flag(true),
      exclude: orAbsent(Type.Array(Type.String())),
    }),
    responses: { 200: { description: "The archive." }, ...machineRefusals, ...pathRefusals, ...invalid },
  },
});

/** A conversation as files. */
export const trajectoryRoutes = routesOf("Files", {
  downloadTrajectory: {
    method: "GET",
    path: `${prefix}/download-trajectory/{conversation_id}`,
    summary: "A conversation as a zip file: what it is, and each event in a file of its own",
    auth: true,
    inShare: true,
    params: conversationParams,
    responses: { 200: { description: "The zip file." }, ...noConversation, ...invalid },
  },
});
