import { startTestSolana, type TestSolana } from "@geoswap/devnet";
import { generateKeyPairSigner } from "@solana/kit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectSolana } from "../connect-solana.ts";
import { checkOwnAccounts } from "./check-own-accounts.ts";

let solana: TestSolana;
beforeAll(async () => {
	solana = await startTestSolana();
});
afterAll(() => solana?.stop());

test("escrow and vault need their rent and an account for each token, and what is missing is named", async () => {
	const { deployment, rpcUrl, admin } = solana;
	expect(await checkOwnAccounts(connectSolana({ rpcUrl, deployment }))).toEqual([]);

	const { address: escrow } = await generateKeyPairSigner();
	const chain = connectSolana({ rpcUrl, deployment: { ...deployment, escrow } });
	const [usdc, usdt] = ["USDC", "USDT"].map(
		(symbol) => deployment.assets.find((asset) => asset.symbol === symbol)?.address,
	);
	if (!usdc || !usdt) throw new Error("the devnet has no such token");
	const missing = (symbol: string, mint: string) =>
		`the escrow ${escrow} has no account for ${symbol}: make it with spl-token create-account ${mint} --owner ${escrow}`;
	expect((await checkOwnAccounts(chain)).sort()).toEqual(
		[
			missing("USDC", usdc),
			missing("USDT", usdt),
			`the escrow ${escrow} holds 0 lamports: send it 890880 more`,
		].sort(),
	);

	await admin.airdrop({ address: escrow, lamports: 890_879n });
	await admin.mintTo({ owner: escrow, token: usdc, amount: 1n });
	await expect
		.poll(async () => (await checkOwnAccounts(chain)).sort())
		.toEqual([missing("USDT", usdt), `the escrow ${escrow} holds 890879 lamports: send it 1 more`].sort());
	await admin.airdrop({ address: escrow, lamports: 1n });
	await admin.mintTo({ owner: escrow, token: usdt, amount: 1n });
	await expect.poll(() => checkOwnAccounts(chain)).toEqual([]);
});
