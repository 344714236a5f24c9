import { solanaChainId, toSolanaWord } from "@geoswap/protocol";
import { generateKeyPairSigner } from "@solana/kit";
import { expect, test } from "vitest";
import { laneKey } from "../durable/poke-targets.ts";
import { createLog } from "../telemetry/log.ts";
import { lanePoke } from "./lane-poke.ts";
import { lanesByChain } from "./lanes-by-chain.ts";

test("a poke reaches the lanes of its chain, and none if the chain is not configured", async () => {
	const reached: string[] = [];
	const lines: string[] = [];
	const laneOf = (name: string) => async (key: string) => void reached.push(`${name} ${key}`);
	const run = lanesByChain(
		new Map([
			[1, laneOf("evm")],
			[solanaChainId, laneOf("solana")],
		]),
		{ log: createLog({ level: "warn", process: "test", write: (line) => lines.push(line) }) },
	);
	const relayer = toSolanaWord((await generateKeyPairSigner()).address);
	const [poke] = lanePoke({ chainId: solanaChainId, relayers: [relayer], bundleWindowMs: 50, nowMs: 1 });
	expect(poke?.target.key).toBe(laneKey({ chainId: solanaChainId, relayer }));
	await run(poke?.target.key ?? "");
	await run(laneKey({ chainId: 1, relayer: "0xABcdEF0000000000000000000000000000000001" }));
	expect(lines).toEqual([]);
	// A chain's number may begin with another's.
	await run(`${solanaChainId}0:0x01`);
	expect(reached).toEqual([
		`solana ${solanaChainId}:${relayer}`,
		"evm 1:0xabcdef0000000000000000000000000000000001",
	]);
	expect(lines).toEqual([expect.stringContaining("a chain that is not configured")]);
});
