import { Type } from "typebox";
import {
  UninstalledResponse,
  UpdateInstalledRequest,
  UpdateInstalledResponse,
} from "../workspace/installed.ts";
import {
  InstallCanvasExtensionRequest,
  InstalledCanvasExtensionResponse,
  InstalledCanvasExtensionsList,
} from "../workspace/canvas-extension.ts";
import { fetchFailures, installedAlready, installedName, notInstalled } from "./installed-routes.ts";
import { invalid } from "./responses.ts";
import { ok } from "./ok.ts";
import { routesOf } from "./route.ts";

const params = Type.Object({ extension_name: installedName });
const path = "/api/canvas-extensions/installed/{extension_name}";

/** Pages that users add to Agent Canvas, in the form of newer clients. This server's own page never runs them. */
export const canvasExtensionRoutes = routesOf("Canvas extensions", {
  installCanvasExtension: {
    method: "POST",
    path: "/api/canvas-extensions/install",
    summary: "Install pages for Agent Canvas, switched off",
    auth: true,
    body: InstallCanvasExtensionRequest,
    responses: {
      ...ok("Installed.", InstalledCanvasExtensionResponse),
      ...installedAlready,
      ...fetchFailures,
      ...invalid,
    },
  },
  listCanvasExtensions: {
    method: "GET",
    path: "/api/canvas-extensions/installed",
    summary: "The installed pages for Agent Canvas",
    auth: true,
    responses: ok("The extensions.", InstalledCanvasExtensionsList),
  },
  getCanvasExtension: {
    method: "GET",
    path,
    summary: "One extension",
    auth: true,
    params,
    responses: { ...ok("The extension.", InstalledCanvasExtensionResponse), ...notInstalled, ...invalid },
  },
  toggleCanvasExtension: {
    method: "PATCH",
    path,
    summary: "Switch an extension on or off",
    auth: true,
    params,
    body: UpdateInstalledRequest,
    responses: { ...ok("Changed.", UpdateInstalledResponse), ...notInstalled, ...invalid },
  },
  uninstallCanvasExtension: {
    method: "DELETE",
    path,
    summary: "Remove an extension and its copy",
    auth: true,
    params,
    responses: { ...ok("It is not installed any more.", UninstalledResponse), ...notInstalled, ...invalid },
  },
  getCanvasExtensionBundle: {
    method: "GET",
    path: `${path}/bundle`,
    summary: "The program of an extension that is switched on, for the page of Agent Canvas",
    auth: true,
    params,
    responses: { 200: { description: "JavaScript." }, ...notInstalled, ...invalid },
  },
  getCanvasExtensionIcon: {
    method: "GET",
    path: `${path}/icon`,
    summary: "The icon of an extension",
    auth: true,
    params,
    responses: { 200: { description: "SVG." }, ...notInstalled, ...invalid },
  },
});
