import { startTestChains } from "@geoswap/devnet";
import { pino } from "pino";
import { privateKeyToAddress } from "viem/accounts";
import { expect, onTestFinished, test } from "vitest";
import { testConfig } from "../../test/desk/test-prices.ts";

import { workerKeysSchema } from "../config/role-keys.ts";
import { openSigners } from "../signer/open-signers.ts";
import { connectWorkerChains } from "./connect-worker-chains.ts";

test("a worker whose treasury acts does not start with a treasurer that is also a relayer of the chain or an attester", async () => {
	const chains = await startTestChains();
	const stopping = new AbortController();
	onTestFinished(async () => {
		stopping.abort();
		await chains.stop();
	});
	const { relayers, attesters, treasurer } = chains.keys;
	const connect = async (key: string | undefined) => {
		const onBoth = <Named>(named: Named) => ({ 31337: named, 31338: named });
		const named = { relayers: onBoth(["env:RELAYER"]), treasurers: onBoth("env:TREASURER") };
		const keys = workerKeysSchema.parse(named);
		const environment = { RELAYER: relayers[0], TREASURER: key };
		const signers = openSigners({ settings: keys, environment, nowMs: Date.now });
		const plain = testConfig(chains);
		const config = { ...plain, keys, treasury: { ...plain.treasury, mode: "act" as const } };
		return connectWorkerChains(config, { signers, signal: stopping.signal, log: pino({ level: "silent" }) });
	};
	await expect(connect(relayers[0])).rejects.toThrow("is also the key of a relayer there");
	await expect(connect(attesters[2])).rejects.toThrow("is also the key of an attester");
	const connected = await connect(treasurer);
	const address = privateKeyToAddress(treasurer);
	expect(connected.chains.map((chain) => chain.treasurer)).toEqual([address, address]);
});
