import type { TestChain } from "@geoswap/devnet";
import { accountOfSigner } from "@geoswap/keys/account-of-signer";
import { hexToBytes, type LocalAccount, zeroAddress } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { noCap, startTestSigner, type TestSigner } from "../../../test/signer/start-test-signer.ts";
import { type ActingScene, createActingScene, randomId } from "../../../test/treasury/acting-scene.ts";
import type { MoveState, NewMove } from "../../money/move/treasury-moves.ts";

/** What a bridge of the scene takes. */
const amount = 1_000_000_000n;
let scene: ActingScene;
let signer: TestSigner;

beforeAll(async () => {
	scene = await createActingScene({
		// The lanes sign through the signer, over the network.
		signing: async ({ deployment, keys, origin, destination }) => {
			const both = [origin, destination];
			const gasAccounts = [privateKeyToAddress(keys.treasurer)];
			signer = await startTestSigner({
				deployment,
				secrets: { TREASURER: hexToBytes(keys.treasurer) },
				config: {
					chains: Object.fromEntries(both.map(({ chainId }) => [chainId, { ...limits, gasAccounts }])),
					keys: Object.fromEntries(both.map((chain) => [`treasurer-${chain.chainId}`, keyOn(chain)])),
				},
			});
			const backend = signer.backendOf("worker");
			const accounts = new Map<number, LocalAccount>();
			for (const { chainId } of both) {
				const rest = `treasurer-${chainId}`;
				const name = { reference: `remote:${rest}`, backend: "remote" } as const;
				accounts.set(chainId, accountOfSigner(await backend.openEvm({ name, rest })));
			}
			return (chainId) => accounts.get(chainId) ?? expect.unreachable("both chains have a treasurer");
		},
	});
	await scene.makeFinal();
	await scene.follow();
});
afterAll(async () => {
	await scene?.stop();
	await signer?.stop();
});

const limits = {
	finalitySeconds: 5,
	maxFeePerGasWei: String(500n * 10n ** 9n),
	maxTransactionFeeWei: String(10n ** 19n),
};

/** A key that may bridge as much as one bridge takes. */
function keyOn({ chainId, deployment: { settlementToken, assets } }: TestChain) {
	const once = { perHour: String(amount), perDay: String(amount) };
	const capped = ({ address }: { address: string }) => (address === settlementToken ? once : noCap);
	return {
		use: "treasurer",
		reference: "env:TREASURER",
		clients: ["worker"],
		chainId,
		signaturesPerHour: 1_000,
		feesWei: noCap,
		moves: Object.fromEntries(assets.map((asset) => [asset.address, capped(asset)])),
	};
}

/** Does what a worker does until a move has a state, with the next blocks final. */
async function until(id: string, state: MoveState): Promise<void> {
	for (let i = 0; (await scene.move(id)).state !== state; i++) {
		if (i === 30) throw new Error(`the move stays ${(await scene.move(id)).state}`);
		await scene.owner.query("update treasury_moves set look_at = null");
		await scene.look();
		await scene.makeFinal();
		await scene.follow();
	}
}

function onOrigin(move: Partial<NewMove>): Promise<string> {
	const { chainId, deployment } = scene.origin;
	return scene.queue({ toChainId: chainId, holder: deployment.contracts.vault, moveId: randomId(), ...move });
}

const logged = (msg: string) => signer.lines.filter((line) => line.msg === msg);

test("a treasurer's lane gets each kind of move and the mint signed, and the chains accept them", async () => {
	const { settlementToken, assets } = scene.origin.deployment;
	const weth = assets.find(({ symbol }) => symbol === "WETH");
	const moves = [
		await scene.queue(),
		await onOrigin({
			kind: "send",
			token: zeroAddress,
			amount: 10n ** 15n,
			address: scene.treasurer.address,
			data: {},
		}),
		await onOrigin({
			kind: "trade",
			token: weth?.address ?? zeroAddress,
			toToken: settlementToken,
			amount: 10n ** 15n,
			minReceived: 1n,
			data: { poolFees: [500] },
		}),
	];
	for (const id of moves) await until(id, "final");
	expect(logged("refused")).toEqual([]);
	const kinds = logged("signed").map(({ kind }) => kind);
	expect(kinds.toSorted()).toEqual(["bridge", "mint", "send", "trade"]);
});

test("a move above the key's cap stays queued, and does not delay what takes another token", async () => {
	const bridge = await scene.queue({ moveId: randomId() });
	const send = await onOrigin({
		kind: "send",
		token: zeroAddress,
		amount: 1n,
		address: scene.treasurer.address,
		data: {},
	});
	await until(send, "final");
	expect(await scene.move(bridge)).toMatchObject({ state: "queued" });
	const [refused] = logged("refused");
	expect(refused).toMatchObject({
		reason: "above-cap",
		problem: expect.stringContaining(`moves/treasurer-${scene.origin.chainId}/`),
	});
	expect(new Set(logged("refused").map(({ reason }) => reason))).toEqual(new Set(["above-cap"]));
});
