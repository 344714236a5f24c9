import { generateKeyPairSync, randomUUID } from "node:crypto";
import { type ClientHttp2Session, connect } from "node:http2";
import { forgedIdentity, forgedInvocation, forgeEngineCall, identityKeyOf } from "@geoswap/devnet";
import { afterEach, expect, test } from "vitest";
import { createLog } from "../telemetry/log.ts";
import { serveDurable } from "./serve-durable.ts";

const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const identityKey = identityKeyOf(publicKey);
const stranger = generateKeyPairSync("ed25519");
const uuid = randomUUID();
const invocation = "/invoke/round/run";

const closing: (() => unknown)[] = [];
afterEach(async () => {
	for (const close of closing.splice(0)) await close();
});

/** Starts a worker. Returns what its handlers have done, and a connection to it. */
async function serve(identityKeys: string[]): Promise<{ done: unknown[]; session: ClientHttp2Session }> {
	const done: unknown[] = [];
	const handler = async (key: string) => {
		done.push(key);
	};
	const server = await serveDurable({
		handlers: { round: handler, lane: handler, attestation: handler, crossCheck: handler },
		host: "127.0.0.1",
		port: 0,
		identityKeys,
		retryMaxMs: 200,
		log: createLog({ level: "silent", process: "test" }),
	});
	const session = connect(server.url);
	closing.push(() => session.destroy(), server.close);
	return { done, session };
}

const asked = forgedInvocation({ key: uuid });
const unsigned = { "x-restate-signature-scheme": "unsigned" };

test.each<[string, string, Record<string, string>]>([
	["unsigned", invocation, {}],
	["marked as unsigned", invocation, unsigned],
	["signed by another key", invocation, forgedIdentity({ path: invocation, identityKey })],
	[
		"signed by another key under its own name",
		invocation,
		forgedIdentity({
			path: invocation,
			identityKey: identityKeyOf(stranger.publicKey),
			privateKey: stranger.privateKey,
		}),
	],
	["signed by none", invocation, forgedIdentity({ path: invocation, identityKey, algorithm: "none" })],
	["signed for another path", invocation, forgedIdentity({ path: "/discover", identityKey, privateKey })],
	["a lane, unsigned", "/invoke/lane/run", {}],
	["an attestation, unsigned", "/invoke/attestation/run", {}],
	["a discovery, unsigned", "/discover", {}],
	["a serializer's preview, unsigned", "/serdes/round/decode/any", {}],
])("a call that the engine did not sign is refused and runs nothing: %s", async (_, path, headers) => {
	const { done, session } = await serve([identityKey]);
	const { status, said } = await forgeEngineCall(session, { path, headers, body: asked });
	expect({ status, said }).toEqual({ status: 401, said: JSON.stringify({ message: "Unauthorized" }) });
	expect(done).toEqual([]);
});

test("the same call runs if the engine's key signed it, or if no key is configured", async () => {
	const signed = forgedIdentity({ path: invocation, identityKey, privateKey });
	for (const [identityKeys, headers] of [
		[[identityKey], signed],
		[[identityKeyOf(stranger.publicKey), identityKey], signed],
		[[], {}],
	] as const) {
		const { done, session } = await serve([...identityKeys]);
		expect((await forgeEngineCall(session, { path: invocation, headers, body: asked })).status).toBe(200);
		expect(done).toEqual([uuid]);
	}
});

test("without a signature only the health check answers", async () => {
	const { session } = await serve([identityKey]);
	const { status, said } = await forgeEngineCall(session, { path: "/health" });
	expect({ status, said }).toEqual({ status: 200, said: "OK" });
	expect((await forgeEngineCall(session, { path: "/metrics" })).status).toBe(404);
});
