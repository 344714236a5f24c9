import { toSwapId } from "@geoswap/protocol";
import { createPublicClient, http } from "viem";
import { expect, test } from "vitest";
import { createLog } from "./log.ts";

const endpoint = "http://127.0.0.1:1/v2/a-key-of-the-endpoint";

test("a swap id has the same form in every log line", () => {
	const lines: string[] = [];
	const log = createLog({ level: "info", process: "test", write: (line) => lines.push(line) });
	const uuid = "01a1dd3d-d1fe-7a4e-8b60-4003c9744a5b";
	log.info({ swapId: uuid }, "one");
	log.info({ swapIds: [uuid] }, "many");
	log.child({ swapId: toSwapId(uuid) }).info("spelt already");
	expect(lines.filter((line) => line.includes(toSwapId(uuid)))).toHaveLength(3);
	expect(lines.join("")).not.toContain(uuid);
});

test("keys, signatures, tokens and the endpoint in a chain's error are not logged", async () => {
	const lines: string[] = [];
	const log = createLog({ level: "info", process: "test", write: (line) => lines.push(line) });
	const client = createPublicClient({ transport: http(endpoint, { retryCount: 0 }) });
	const error = await client.getBlockNumber().catch((thrown: unknown) => thrown);
	log.error({ err: error, swapId: "swp_1" }, "failed");
	log.error({ err: new Error("wrapped", { cause: error }) }, "failed");
	log.info(
		{ op: { signature: "a-signature" }, apiKey: "an-api-key", body: { geoOpToken: "a-token" } },
		"call",
	);
	log.info({ req: { headers: { "x-api-key": "an-api-key" } }, tx: { raw: "a-raw-transaction" } }, "call");
	log.info(
		{ body: { signedTransaction: "a-signed-transaction" }, signedTransaction: "a-signed-one" },
		"call",
	);
	const text = lines.join("");
	expect(text).toContain("swp_1");
	expect(text).toContain("HTTP request failed");
	expect(text).not.toMatch(
		/a-key-of-the-endpoint|a-signature|an-api-key|a-token|a-raw-transaction|a-signed-/,
	);
});
