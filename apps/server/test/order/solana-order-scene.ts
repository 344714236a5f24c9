import {
	type Order,
	type OrderMessageParts,
	packDeadlines,
	type SolanaAddress,
	type SolanaDeployment,
	solanaChainId,
	solanaDeploymentSchema,
	solanaNativeToken,
	toSolanaWord,
} from "@geoswap/protocol";
import { createKeyPairSignerFromPrivateKeyBytes, getAddressDecoder, type KeyPairSigner } from "@solana/kit";
import { toHex, zeroAddress } from "viem";
import { testProgram } from "./test-program.ts";

/** Keys, a deployment and an order that are on no chain, for tests that need none. */
export type SolanaOrderScene = {
	deployment: SolanaDeployment;
	feePayers: [KeyPairSigner, KeyPairSigner];
	operator: KeyPairSigner;
	wallet: KeyPairSigner;
	stranger: KeyPairSigner;
	/** An order from USDC on Solana to an EVM chain. */
	order: Order;
	parts: OrderMessageParts;
};

export const mintsOfScene = { usdc: addressOf(101), usdt: addressOf(102) };

export async function solanaOrderScene(): Promise<SolanaOrderScene> {
	const [feePayer, otherFeePayer, operator, wallet, stranger] = await Promise.all([
		signerOf(1),
		signerOf(2),
		signerOf(3),
		signerOf(5),
		signerOf(6),
	]);
	const feed = {
		chainId: 31337,
		address: zeroAddress.replace(/0$/, "1"),
		heartbeatSeconds: 3600,
		deviationBps: 5,
	};
	const deployment = solanaDeploymentSchema.parse({
		chainId: solanaChainId,
		name: "Scene",
		genesisHash: addressOf(99),
		feePayers: [feePayer.address, otherFeePayer.address],
		program: testProgram({ address: addressOf(104), vault: addressOf(105), operator: operator.address }),
		settlementToken: mintsOfScene.usdc,
		assets: [
			{ symbol: "USDC", address: mintsOfScene.usdc, decimals: 6, kind: "stable", feed },
			{ symbol: "USDT", address: mintsOfScene.usdt, decimals: 6, kind: "stable", feed },
			{ symbol: "SOL", address: solanaNativeToken, decimals: 9, kind: "volatile", feed },
		],
	});
	return {
		deployment,
		feePayers: [feePayer, otherFeePayer],
		operator,
		wallet,
		stranger,
		order: solanaOrder({ deployment, wallet: wallet.address }),
		parts: {
			feePayer: feePayer.address,
			blockhash: addressOf(103),
			compute: { unitLimit: 80_000, microLamportsPerUnit: 1_000n },
		},
	};
}

/** Returns an order from the settlement token on Solana, to an EVM chain unless `changes` contain another one. */
export function solanaOrder({
	deployment,
	wallet,
	...changes
}: { deployment: SolanaDeployment; wallet: SolanaAddress } & Partial<Omit<Order, "wallet">>): Order {
	return {
		originChainId: BigInt(solanaChainId),
		destinationChainId: 31337n,
		escrow: toSolanaWord(deployment.program.address),
		originVault: toSolanaWord(deployment.program.vault),
		destinationVault: toHex(7n, { size: 32 }),
		attesterSet: deployment.program.attesterSet.hash,
		wallet: toSolanaWord(wallet),
		inputToken: toSolanaWord(deployment.settlementToken),
		inputAmount: 25_000_000n,
		outputToken: toHex(8n, { size: 32 }),
		minOutput: 24_000_000n,
		recipient: toHex(9n, { size: 32 }),
		topUp: 0n,
		swapKey: toHex(10n, { size: 32 }),
		deadlines: packDeadlines({ openDeadline: 1_000n, fillDeadline: 2_000n, refundAfter: 3_000n }),
		...changes,
	};
}

function signerOf(byte: number): Promise<KeyPairSigner> {
	return createKeyPairSignerFromPrivateKeyBytes(new Uint8Array(32).fill(byte));
}

function addressOf(byte: number): SolanaAddress {
	return getAddressDecoder().decode(new Uint8Array(32).fill(byte));
}
