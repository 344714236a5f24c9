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
	const [feePayer, address, operator, upgradeAuthority] = await Promise.all(
		Array.from({ length: 4 }, async () => (await generateKeyPairSigner()).address),
	);
	if (!feePayer || !address || !operator || !upgradeAuthority) throw new Error("four keys were made");
	const assets = [{ address: solanaNativeToken }];
	const program = { ...solana.deployment.program, address, operator, upgradeAuthority };
	const own = { genesisHash, feePayers: [feePayer], program, assets };
	expect(() => refuseSolanaDevelopmentKeys(own)).not.toThrow();
	for (const known of developmentSolanaAddresses()) {
		const places = [
			{ feePayers: [feePayer, known] },
			{ program: { ...program, address: known } },
			{ program: { ...program, operator: known } },
			{ program: { ...program, upgradeAuthority: known } },
			{ assets: [...assets, { address: known }] },
		];
		for (const place of places) {
			expect(() => refuseSolanaDevelopmentKeys({ ...own, ...place })).toThrow(known);
		}
	}
});
