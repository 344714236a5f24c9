import { connectSolanaAdmin, type SolanaAdmin } from "@geoswap/devnet";
import type { SolanaAddress, SolanaDeployment } from "@geoswap/protocol";
import {
	createSolanaRpc,
	generateKeyPairSigner,
	type KeyPairSigner,
	type Rpc,
	type SolanaRpcApi,
} from "@solana/kit";
import { assetAddress } from "../wallet/make-order.ts";

/** The Solana of an environment, with admin calls that a real cluster does not have. */
export type SolanaTestChain = {
	chainId: number;
	rpcUrl: string;
	wsUrl: string;
	rpc: Rpc<SolanaRpcApi>;
	deployment: SolanaDeployment;
	admin: SolanaAdmin;
	/** Creates a wallet with this holding, and not one lamport unless requested. */
	newWallet: (holding?: SolanaHolding) => Promise<KeyPairSigner>;
};

type SolanaHolding = { usdc?: bigint; usdt?: bigint; lamports?: bigint };

export function connectSolanaChain({
	rpcUrl,
	wsUrl,
	deployment,
}: {
	rpcUrl: string;
	wsUrl: string;
	deployment: SolanaDeployment;
}): SolanaTestChain {
	const admin = connectSolanaAdmin(rpcUrl);
	const chain = { chainId: deployment.chainId, rpcUrl, wsUrl, deployment, admin };
	const give = async (owner: SolanaAddress, symbol: string, amount: bigint | undefined) => {
		if (amount) await admin.mintTo({ owner, token: assetAddress(chain, symbol), amount });
	};
	return {
		...chain,
		rpc: createSolanaRpc(rpcUrl),
		newWallet: async ({ usdc, usdt, lamports } = {}) => {
			const signer = await generateKeyPairSigner();
			await give(signer.address, "USDC", usdc);
			await give(signer.address, "USDT", usdt);
			if (lamports) await admin.airdrop({ address: signer.address, lamports });
			return signer;
		},
	};
}
