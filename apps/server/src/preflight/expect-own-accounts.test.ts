import { startTestSolana, type TestSolana } from "@geoswap/devnet";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectSolana } from "../chain/solana/connect-solana.ts";
import { ConfigError } from "../config/config-error.ts";
import { expectOwnAccounts } from "./expect-own-accounts.ts";

let solana: TestSolana;
beforeAll(async () => {
	solana = await startTestSolana({ slotMs: 50 });
});
afterAll(() => solana.stop());

test("a worker starts even if the node loses one answer", async () => {
	await solana.admin.setFaults({ dropAnswers: { next: 1 } });
	await expectOwnAccounts(connectSolana(solana));
	await solana.admin.setFaults({});
});

test("a node that does not respond at all is reported as such", async () => {
	const chain = connectSolana({ ...solana, rpcUrl: "http://127.0.0.1:9" });
	const starting = expectOwnAccounts(chain, { patienceMs: 600 });
	await expect(starting).rejects.toThrow(new ConfigError("solana.nodes", "does not answer"));
});
