import type { TestSolana } from "@geoswap/devnet";
import type { SolanaAddress } from "@geoswap/protocol";
import { createDefaultRpcTransport, type RpcTransport } from "@solana/kit";
import { getTokenDecoder, getTokenEncoder, type Token } from "@solana-program/token";
import type { Hex } from "viem";
import { toSignature } from "../../src/chain/solana/read/read-statuses.ts";

type TokenBalance = { owner: string; mint: string; uiTokenAmount: { amount: string } };
type Meta = { err: unknown; preTokenBalances: TokenBalance[]; postTokenBalances: TokenBalance[] };
type Account = { owner: string; lamports: number | bigint; data: [string, string] };

export type Tampering = {
	/** Changes the effects of a transaction, by its signature. */
	transactions?: ReadonlyMap<Hex, (meta: Meta) => void>;
	/** Changes the contents of an account, by its address. */
	accounts?: ReadonlyMap<SolanaAddress, (account: Account) => void>;
};

/** Returns a Solana whose node reports what a program without its rules would have done. */
export function tamperedNode(
	solana: TestSolana,
	{ transactions = new Map(), accounts = new Map() }: Tampering,
): TestSolana & { transport: RpcTransport } {
	const real = createDefaultRpcTransport({ url: solana.rpcUrl });
	const bySignature = new Map([...transactions].map(([hex, change]) => [String(toSignature(hex)), change]));
	const transport: RpcTransport = async (request) => {
		const answer = await real(request);
		const { method, params } = request.payload as { method: string; params: [string | string[]] };
		const { result } = answer as { result: unknown };
		if (method === "getTransaction" && result) {
			bySignature.get(String(params[0]))?.((result as { meta: Meta }).meta);
		}
		if (method === "getMultipleAccounts") {
			for (const [i, account] of (result as { value: (Account | null)[] }).value.entries()) {
				if (account) accounts.get(params[0][i] as SolanaAddress)?.(account);
			}
		}
		return answer as never;
	};
	return { ...solana, transport };
}

/** Makes a failed transaction appear to have succeeded. */
export function succeed(meta: Meta): void {
	meta.err = null;
}

/** Adds to an owner's holdings of a token after a transaction. */
export function addTokens(
	{ postTokenBalances }: Meta,
	{ owner, amount }: { owner: string; amount: bigint },
): void {
	const held = postTokenBalances.find((balance) => balance.owner === owner);
	if (!held) throw new Error(`${owner} is not in the transaction`);
	held.uiTokenAmount.amount = String(BigInt(held.uiTokenAmount.amount) + amount);
}

/** Changes the fields of a token account. */
export function changeToken(account: Account, change: (token: Token) => Partial<Token>): void {
	const token = getTokenDecoder().decode(Buffer.from(account.data[0], "base64"));
	const changed = getTokenEncoder().encode({ ...token, ...change(token) });
	account.data[0] = Buffer.from(changed).toString("base64");
}
