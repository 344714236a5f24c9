import { createPublicClient, http } from "viem";
import { expect, test } from "vitest";
import { createLog } from "./log.ts";

const endpoint = "http://127.0.0.1:1/v2/a-key-of-the-endpoint";

test("neither keys, signatures and tokens nor an endpoint in a chain's error are logged", async () => {
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
	const text = lines.join("");
	expect(text).toContain("swp_1");
	expect(text).toContain("HTTP request failed");
	expect(text).not.toMatch(/a-key-of-the-endpoint|a-signature|an-api-key|a-token|a-raw-transaction/);
});
