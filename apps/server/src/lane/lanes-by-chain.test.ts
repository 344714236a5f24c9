import { solanaChainId, toSolanaWord } from "@geoswap/protocol";
import { generateKeyPairSigner } from "@solana/kit";
import { expect, test } from "vitest";
import { laneKey } from "./lane-key.ts";
import { lanePoke } from "./lane-poke.ts";
import { lanesByChain } from "./lanes-by-chain.ts";

test("each key reaches the lanes of its chain, also as it is poked", async () => {
	const reached: string[] = [];
	const run = lanesByChain({
		evm: async (key) => {
			reached.push(`evm ${key}`);
		},
		solana: async (key) => {
			reached.push(`solana ${key}`);
		},
	});
	const relayer = toSolanaWord((await generateKeyPairSigner()).address);
	const [poke] = lanePoke({ chainId: solanaChainId, relayers: [relayer], bundleWindowMs: 50, nowMs: 1 });
	expect(poke?.target.key).toBe(laneKey({ chainId: solanaChainId, relayer }));
	await run(poke?.target.key ?? "");
	await run(laneKey({ chainId: 1, relayer: "0xABcdEF0000000000000000000000000000000001" }));
	// A chain's number may begin with another's.
	await run(`${solanaChainId}0:0x01`);
	expect(reached).toEqual([
		`solana ${solanaChainId}:${relayer}`,
		"evm 1:0xabcdef0000000000000000000000000000000001",
		`evm ${solanaChainId}0:0x01`,
	]);
});

test("without Solana a key of it is for the others to pass over", async () => {
	const reached: string[] = [];
	const evm = async (key: string) => {
		reached.push(key);
	};
	await lanesByChain({ evm })(`${solanaChainId}:0x01`);
	expect(reached).toEqual([`${solanaChainId}:0x01`]);
});
