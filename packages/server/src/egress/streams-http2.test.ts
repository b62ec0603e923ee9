import { once } from "node:events";
import { constants, type IncomingHttpHeaders } from "node:http2";
import { expect, test } from "vitest";
import { exchangeHttp2, openHttp2Session, openHttp2World, readHttp2Answer } from "./testing/http2-world.ts";

test("both directions stream at the same time and have trailers, as gRPC needs it", async () => {
  await using world = await openHttp2World((stream, headers) => {
    expect(headers["te"]).toBe("trailers");
    let sum = "";
    stream.on("trailers", (given) => (sum = String(given["x-sum"])));
    stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0", "x-sum": sum }));
    stream.on("data", (bytes: Buffer) => stream.write(`got ${String(bytes)}`));
    stream.once("end", () => stream.end());
  });
  using session = await openHttp2Session(world);
  const stream = session.request(
    { ":path": "/", ":method": "POST", te: "trailers" },
    { waitForTrailers: true },
  );
  stream.on("wantTrailers", () => stream.sendTrailers({ "x-sum": "3" }));
  let trailers: IncomingHttpHeaders = {};
  stream.on("trailers", (given) => (trailers = given));
  await once(stream, "response");
  for (const word of ["one", "two", "three"]) {
    stream.write(word);
    expect(String((await once(stream, "data"))[0])).toBe(`got ${word}`);
  }
  stream.end();
  await once(stream.resume(), "close");
  expect(trailers).toMatchObject({ "grpc-status": "0", "x-sum": "3" });
  expect(stream.rstCode).toBe(constants.NGHTTP2_NO_ERROR);
});

test("trailers without a body, and a body without trailers, end the stream", async () => {
  await using world = await openHttp2World((stream, headers) => {
    stream.respond({ ":status": 200 }, { waitForTrailers: headers[":path"] === "/trailers" });
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "7" }));
    stream.end(headers[":path"] === "/body" ? "body" : "");
  });
  using session = await openHttp2Session(world);
  expect(await exchangeHttp2(session, { ":path": "/trailers" })).toMatchObject({
    body: "",
    trailers: { "grpc-status": "7" },
  });
  expect(await exchangeHttp2(session, { ":path": "/body" })).toMatchObject({ body: "body", trailers: {} });
});

test("an answer before the end of the request passes, and so does a reset", async () => {
  await using world = await openHttp2World((stream, headers) => {
    stream.on("error", () => {});
    if (headers[":path"] === "/refused") return stream.close(constants.NGHTTP2_REFUSED_STREAM);
    if (headers[":path"] === "/reset") return stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    stream.respond({ ":status": 413 });
    stream.end("too much", () => stream.close(constants.NGHTTP2_NO_ERROR));
  });
  using session = await openHttp2Session(world);
  const early = session.request({ ":path": "/", ":method": "POST" }, { endStream: false });
  early.write("some");
  expect(await readHttp2Answer(early)).toMatchObject({ headers: { ":status": 413 }, body: "too much" });
  early.destroy();
  const reset = session.request({ ":path": "/reset" });
  const [headers] = (await once(reset, "response")) as [IncomingHttpHeaders];
  expect(headers[":status"]).toBe(502);
  const refused = session.request({ ":path": "/refused" });
  await expect(once(refused, "response")).rejects.toThrow("NGHTTP2_REFUSED_STREAM");
});

test("a client that cancels cancels the request, and a gone host is an answer in words", async () => {
  const cancelled = Promise.withResolvers<number>();
  await using world = await openHttp2World((stream, headers) => {
    if (headers[":path"] === "/gone") return stream.session?.destroy();
    stream.on("close", () => cancelled.resolve(stream.rstCode));
    stream.on("error", () => {});
    stream.respond({ ":status": 200 });
    stream.write("some");
  });
  using session = await openHttp2Session(world);
  const stream = session.request({ ":path": "/" });
  await once(stream, "data");
  stream.close(constants.NGHTTP2_CANCEL);
  expect(await cancelled.promise).toBe(constants.NGHTTP2_CANCEL);
  const gone = await exchangeHttp2(session, { ":path": "/gone" });
  expect(gone.headers[":status"]).toBe(502);
});

test("20 MiB pass each way", async () => {
  await using world = await openHttp2World((stream) => {
    stream.respond({ ":status": 200 });
    stream.pipe(stream);
  });
  using session = await openHttp2Session(world);
  const stream = session.request({ ":path": "/", ":method": "POST" }, { endStream: false });
  const chunk = Buffer.alloc(1024 * 1024, "x");
  const sending = (async () => {
    for (let at = 0; at < 20; at += 1) if (!stream.write(chunk)) await once(stream, "drain");
    stream.end();
  })();
  let received = 0;
  for await (const bytes of stream as AsyncIterable<Buffer>) received += bytes.length;
  await sending;
  expect(received).toBe(20 * chunk.length);
});

test("an answer that Node does not send on is a sentence, and the proxy goes on", async () => {
  await using world = await openHttp2World((stream, headers) => {
    if (headers[":path"] === "/") return stream.respond({ ":status": 200 }, { endStream: true });
    stream.on("error", () => {});
    stream.respond({ ":status": 200, "content-type": ["a/b", "c/d"] as unknown as string });
    stream.end("x");
  });
  using session = await openHttp2Session(world);
  const odd = await exchangeHttp2(session, { ":path": "/odd" });
  expect(odd.headers[":status"]).toBe(502);
  expect((await exchangeHttp2(session, { ":path": "/" })).headers[":status"]).toBe(200);
});
