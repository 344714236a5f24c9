import {
	type Account,
	type Chain,
	type Client,
	createClient,
	defineChain,
	type PublicActions,
	publicActions,
	type RpcSchema,
	type Transport,
	type WalletActions,
	walletActions,
} from "viem";

export type DeployClient = Client<
	Transport,
	Chain,
	Account,
	RpcSchema,
	PublicActions<Transport, Chain, Account> & WalletActions<Chain, Account>
>;

export function createDeployClient({
	transport,
	account,
	chainId,
	name,
	pollingIntervalMs,
}: {
	transport: Transport;
	account: Account;
	chainId: number;
	name: string;
	pollingIntervalMs: number;
}): DeployClient {
	const chain = defineChain({
		id: chainId,
		name,
		nativeCurrency: { name: "native", symbol: "native", decimals: 18 },
		// The transport decides where requests go.
		rpcUrls: { default: { http: [] } },
	});
	return createClient({ account, chain, transport, pollingInterval: pollingIntervalMs, cacheTime: 0 })
		.extend(publicActions)
		.extend(walletActions);
}
