import { type Authorization, geoAccountAbi } from "@geoswap/protocol";
import { type Address, encodeFunctionData, type Hex, keccak256 } from "viem";
import { feeModelOf } from "../../chain/evm/fee/fee-model.ts";
import { signedAuthorization } from "../../chain/evm/wallet/signed-authorization.ts";
import type { LaneTransaction } from "../../job/journal/lane-transactions.ts";
import type { Lane } from "./lane.ts";
import type { Fees } from "./transaction-fees.ts";

/** The gas that a transaction pays in advance for each authorization that it carries (EIP-7702). */
const authorizationGas = 25_000n;

/** Signs a transaction that spends the nonce and does nothing, but for the authorization that it may carry. */
export async function signCancel(
	{ id, account, chain }: Pick<Lane, "id" | "account" | "chain">,
	{ nonce, fees, authorization }: { nonce: number; fees: Fees; authorization?: Authorization },
): Promise<Hex> {
	const call = { to: account.address, data: "0x" } as const;
	const gas = 21_000n + (await feeModelOf(chain.deployment).readExtraGas(chain, call));
	const transaction = { ...call, chainId: id.chainId, nonce, ...fees };
	return account.signTransaction(
		authorization
			? {
					...transaction,
					type: "eip7702",
					gas: gas + authorizationGas,
					authorizationList: [signedAuthorization(authorization)],
				}
			: { ...transaction, type: "eip1559", gas },
	);
}

/** Gas of a revocation: a signature and one storage slot. */
const revocationGas = 80_000n;

/** Signs a transaction that has a wallet's account revoke its mandates, with the wallet's own proof. */
export async function signRevocation(
	{ id, account, chain }: Pick<Lane, "id" | "account" | "chain">,
	{ nonce, fees, wallet, proof }: { nonce: number; fees: Fees; wallet: Address; proof: Hex },
): Promise<Hex> {
	const data = encodeFunctionData({ abi: geoAccountAbi, functionName: "revokeMandates", args: [proof] });
	const call = { to: wallet, data };
	const gas = revocationGas + (await feeModelOf(chain.deployment).readExtraGas(chain, call));
	return account.signTransaction({ ...call, chainId: id.chainId, nonce, ...fees, type: "eip1559", gas });
}

/** Returns the first attempt of a signed cancel, as it is journalled. */
export function firstCancel(raw: Hex, { nonce, fees }: { nonce: number; fees: Fees }): LaneTransaction {
	return {
		nonce,
		attempt: 0,
		hash: keccak256(raw),
		raw,
		kind: "cancel",
		jobs: [],
		maxFeePerGas: fees.maxFeePerGas,
		state: "signed",
	};
}
