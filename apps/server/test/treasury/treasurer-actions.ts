import { cctpOf, startIris, type TestChain, type TestChains } from "@geoswap/devnet";
import { type Amount, geoVaultAbi } from "@geoswap/protocol";
import {
	type Address,
	encodeAbiParameters,
	encodeFunctionData,
	type Hash,
	type Hex,
	type TransactionReceipt,
	zeroAddress,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { readAttestation } from "../../src/chain/evm/cctp/read-attestation.ts";
import { mintCall } from "../../src/chain/evm/cctp/read-mint.ts";
import { assetAddress, send } from "../order/order-actions.ts";

/** The fee of the devnet's pool of WETH and USDC. */
const poolFee = 500;
/** Finality at which Circle attests a standard burn. */
const standard = 2_000;

/**
 * Creates moves of the treasurer's key on test chains, each by its own transaction, with models of Circle's contracts and
 * of its attestation service. Bridges lead from the origin to the destination.
 */
export async function treasurerActions(chains: TestChains) {
	const { origin, destination, keys } = chains;
	const treasurer = privateKeyToAccount(keys.treasurer);
	const { domain, routes } = cctpOf(origin);
	const route = routes[destination.chainId];
	if (!route) throw new Error("the origin has no route");
	const iris = await startIris({ chains: [origin, destination] });
	const vault = (chain: TestChain) => chain.deployment.contracts.vault;
	const usdc = assetAddress(origin, "USDC");

	const asTreasurer = (data: Hex) => send(origin, treasurer, { to: vault(origin), data });
	const placeOf = ({ transactionHash, blockNumber }: TransactionReceipt) => ({
		transactionHash,
		block: Number(blockNumber),
	});

	return {
		/** The route from the origin to the destination. */
		route,

		/** Sells native tokens of the origin's vault for USDC. */
		async trade({ moveId, amount }: { moveId: Hex; amount: Amount }) {
			const { timestamp } = await origin.publicClient.getBlock();
			const args = [moveId, zeroAddress, usdc, amount, 1n, poolFee, 0, timestamp + 3_600n] as const;
			return placeOf(
				await asTreasurer(encodeFunctionData({ abi: geoVaultAbi, functionName: "trade", args })),
			);
		},

		/** Sends native tokens of the origin's vault. */
		async send({ moveId, to, amount }: { moveId: Hex; to: Address; amount: Amount }) {
			const args = [moveId, zeroAddress, to, amount] as const;
			return placeOf(await asTreasurer(encodeFunctionData({ abi: geoVaultAbi, functionName: "send", args })));
		},

		/** Burns USDC of the origin's vault. */
		async bridge({
			moveId,
			amount,
			maxFee = 0n,
			minFinalityThreshold = standard,
		}: {
			moveId: Hex;
			amount: Amount;
			maxFee?: Amount;
			minFinalityThreshold?: number;
		}) {
			const data = encodeAbiParameters(
				[{ type: "uint256" }, { type: "uint32" }],
				[maxFee, minFinalityThreshold],
			);
			const args = [moveId, usdc, route, amount, data] as const;
			return placeOf(
				await asTreasurer(encodeFunctionData({ abi: geoVaultAbi, functionName: "bridge", args })),
			);
		},

		/** Mints at the destination's vault what a final transaction burned. */
		async mint(transactionHash: Hash) {
			const answer = await readAttestation(
				{ url: iris.url, timeoutMs: 5_000 },
				{ sourceDomain: domain, transactionHash },
			);
			if (answer.status !== "complete") throw new Error(`the burn is ${answer.status} at Iris`);
			const to = cctpOf(destination).messageTransmitter;
			return placeOf(
				await send(destination, treasurer, {
					to,
					data: encodeFunctionData(mintCall(cctpOf(destination), answer)),
				}),
			);
		},

		/** The attestation service. */
		iris: { url: iris.url, timeoutMs: 5_000 },

		stop: () => iris.stop(),
	};
}
