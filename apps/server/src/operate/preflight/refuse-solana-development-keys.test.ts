import {
	deriveSolanaDevnetKeys,
	describeSolana,
	developmentSolanaAddresses,
	startTestSolana,
	type TestSolana,
} from "@geoswap/devnet";
import { solanaNativeToken } from "@geoswap/protocol";
import { generateKeyPairSigner } from "@solana/kit";
import { beforeAll, expect, test } from "vitest";
import { refuseSolanaDevelopmentKeys } from "./refuse-solana-development-keys.ts";

/** The genesis hash of the main cluster. */
const genesisHash = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d";

let solana: TestSolana;
beforeAll(async () => {
	solana = await startTestSolana();
	await solana.stop();
});

test("a well-known key is accepted only on the local cluster", async () => {
	expect(() => refuseSolanaDevelopmentKeys(solana.deployment)).not.toThrow();
	expect(deriveSolanaDevnetKeys().feePayers.length).toBeLessThan(16);
	expect(() => refuseSolanaDevelopmentKeys(describeSolana({ genesisHash, feeds: {} }))).toThrow(
		"development key",
	);
	const [feePayer, escrow, vault] = await Promise.all(
		Array.from({ length: 3 }, async () => (await generateKeyPairSigner()).address),
	);
	if (!feePayer || !escrow || !vault) throw new Error("three keys were made");
	const assets = [{ address: solanaNativeToken }];
	const own = { genesisHash, feePayers: [feePayer], escrow, vault, assets };
	expect(() => refuseSolanaDevelopmentKeys(own)).not.toThrow();
	for (const [i, known] of developmentSolanaAddresses().entries()) {
		const places = [{ feePayers: [feePayer, known] }, { escrow: known }, { vault: known }];
		expect(() => refuseSolanaDevelopmentKeys({ ...own, ...places[i % 3] })).toThrow(known);
		const listed = { ...own, assets: [...assets, { address: known }] };
		expect(() => refuseSolanaDevelopmentKeys(listed)).toThrow(known);
	}
});
