// One swap from quote to delivery, for the examples of all endpoints. The wallet's key, 32 bytes of 0x11, is not in
// use.

export const exampleWallet = "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A";
export const exampleSwapId = "swp_01kt1gw6g0ef7b3fyekztjvj8k";

export const exampleIntent = {
	originChain: 8453,
	destinationChain: 10,
	inputToken: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
	outputToken: "0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85",
	amount: "10000000",
	walletAddress: exampleWallet,
	slippageBps: 50,
};

export const exampleQuoteToken = "eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..c2VhbGVk.cXVvdGU";
export const exampleOpToken = "eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..c2VhbGVk.b3A";

export const exampleAuthorization = {
	chainId: 8453,
	address: "0xdaf95cec9F422D8d9CA7c0Fe2a449890b36D0Fd8",
	nonce: 0,
	yParity: 1,
	r: "0x5faab22a153b8fe0802359c64520b19b08ffccd0de5adae8b0dfeeadc01c1fad",
	s: "0x3c73302ca798cadc00da837d9c72377ba3676d4c7a80a008ab5ee0a81ed8d49b",
};

/** The account for wallets that sign typed data only. */
export const exampleTypedDelegate = "0x5cA1aB1e7D2f0B3c94E6a8D17F0c2b9E4d6A3F58";

export const exampleGeoOpHash = "0xe547cf89f22864dc59252a829f41fc35d4c110a98308e12b53d5260bb07db272";
export const exampleSignature =
	"0xc90ae4b11b1d01f8ccd86d750e45c488c749162fa00dfd66fc6fe7d6918201e360d4e8f906e2d00a8ab83ce868bb9e3cec45fb0d3d75be58240640a260e727e71b";

export const exampleGeoOp = {
	chainId: 8453,
	orderId: "0x4820904d312c6537b9a62653d43c9b04405ab3c03813b2c5f1bfd84654407b7e",
	order: {
		wallet: "0x00000000000000000000000019e7e376e7c213b7e7e7e46cc70a5dd086daff2a",
		inputToken: "0x000000000000000000000000833589fcd6edb6e08f4c7c32d4f71b54bda02913",
		inputAmount: "10000000",
		originChainId: "8453",
		destinationChainId: "10",
		outputToken: "0x0000000000000000000000000b2c639c533813f4aa9d7837caf62653d097ff85",
		minOutput: "9931093",
		recipient: "0x00000000000000000000000019e7e376e7c213b7e7e7e46cc70a5dd086daff2a",
		topUp: "0",
		escrow: "0x000000000000000000000000ec31031e3e13a87d889f0b6dbcf000fb8c099ae9",
		originVault: "0x0000000000000000000000004491b5017b969ace7c359d286403e9ca5921a201",
		destinationVault: "0x0000000000000000000000004500be4e21bdcc489849f62050b38cb890a90ae4",
		attesterSet: "0x3a4551146b75749cc74f3e9732d81375daa18b104e2558dca06335d98545a281",
		swapKey: "0x00000000000000000000000000000000019e830e1a0073ceb1bfce9ff52dc913",
		deadlines: "605809972206034021082870553520289729181382530000",
	},
	delegate: "0xdaf95cec9F422D8d9CA7c0Fe2a449890b36D0Fd8",
	typedData: {
		domain: {
			name: "Geoswap",
			version: "1",
			chainId: 8453,
			verifyingContract: "0xEC31031E3E13a87D889F0b6Dbcf000FB8c099AE9",
		},
		types: {
			Order: [
				{
					name: "wallet",
					type: "address",
				},
				{
					name: "inputToken",
					type: "address",
				},
				{
					name: "inputAmount",
					type: "uint256",
				},
				{
					name: "originChainId",
					type: "uint256",
				},
				{
					name: "destinationChainId",
					type: "uint256",
				},
				{
					name: "outputToken",
					type: "bytes32",
				},
				{
					name: "minOutput",
					type: "uint256",
				},
				{
					name: "recipient",
					type: "bytes32",
				},
				{
					name: "topUp",
					type: "uint256",
				},
				{
					name: "escrow",
					type: "address",
				},
				{
					name: "originVault",
					type: "address",
				},
				{
					name: "destinationVault",
					type: "bytes32",
				},
				{
					name: "attesterSet",
					type: "bytes32",
				},
				{
					name: "swapKey",
					type: "bytes32",
				},
				{
					name: "openDeadline",
					type: "uint256",
				},
				{
					name: "fillDeadline",
					type: "uint256",
				},
				{
					name: "refundAfter",
					type: "uint256",
				},
			],
		},
		primaryType: "Order",
		message: {
			wallet: "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A",
			inputToken: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
			inputAmount: "10000000",
			originChainId: "8453",
			destinationChainId: "10",
			outputToken: "0x0000000000000000000000000b2c639c533813f4aa9d7837caf62653d097ff85",
			minOutput: "9931093",
			recipient: "0x00000000000000000000000019e7e376e7c213b7e7e7e46cc70a5dd086daff2a",
			topUp: "0",
			escrow: "0xEC31031E3E13a87D889F0b6Dbcf000FB8c099AE9",
			originVault: "0x4491B5017B969acE7C359d286403E9ca5921A201",
			destinationVault: "0x0000000000000000000000004500be4e21bdcc489849f62050b38cb890a90ae4",
			attesterSet: "0x3a4551146b75749cc74f3e9732d81375daa18b104e2558dca06335d98545a281",
			swapKey: "0x00000000000000000000000000000000019e830e1a0073ceb1bfce9ff52dc913",
			openDeadline: "1780315500",
			fillDeadline: "1780317300",
			refundAfter: "1780405200",
		},
	},
};

export const exampleStatus = {
	swapId: exampleSwapId,
	status: "settled",
	originTxHash: "0x93fe78622d429b9b5fd8324e664cf62af74ca9a1caca4f775d599024a1baa843",
	deliveryTxHash: "0x55d712c2c685f54a07a107f9cf8114ee196432bc1d42f9517c2ca7f8a430faca",
	stage: "delivered",
	orderId: exampleGeoOp.orderId,
	updatedAt: "2026-06-01T12:00:16.480Z",
	funds: {
		chainId: 10,
		holder: "recipient",
		token: exampleIntent.outputToken,
		amount: "9980998",
	},
	terms: {
		originChain: exampleIntent.originChain,
		destinationChain: exampleIntent.destinationChain,
		inputToken: exampleIntent.inputToken,
		outputToken: exampleIntent.outputToken,
		amount: exampleIntent.amount,
		walletAddress: exampleWallet,
		recipient: exampleWallet,
		output: "9980998",
		minOutput: "9931093",
		feeBps: 12.5,
		networkCost: { token: exampleIntent.outputToken, amount: "6502" },
	},
	deliveredAmount: "9980998",
	quotedAt: "2026-06-01T12:00:00.000Z",
	createdAt: "2026-06-01T12:00:03.120Z",
	openedAt: "2026-06-01T12:00:06.210Z",
	deliveredAt: "2026-06-01T12:00:14.350Z",
	endedAt: "2026-06-01T12:00:16.480Z",
	links: {
		origin: "https://basescan.org/tx/0x93fe78622d429b9b5fd8324e664cf62af74ca9a1caca4f775d599024a1baa843",
		delivery:
			"https://optimistic.etherscan.io/tx/0x55d712c2c685f54a07a107f9cf8114ee196432bc1d42f9517c2ca7f8a430faca",
	},
};

/** The secret part of an example link. */
export const exampleShare = "Yk3xwT9vQmZ2r0aLc8NfUe1B";

const exampleEvent = {
	id: `evt_${exampleSwapId.slice("swp_".length)}_4_settled`,
	type: "swap.settled",
	timestamp: exampleStatus.updatedAt,
	data: exampleStatus,
};

export const exampleEventStream = `retry: 2171\n\nid: 0-4711\ndata: ${JSON.stringify(exampleEvent)}\n\n`;

export const exampleWebhookId = "wh_0198f3a1c2d47e5f8a9b0c1d2e3f4a5b";
export const exampleWebhookUrl = "https://agent.example/geoswap";
/** The secret of an example, which signs nothing. */
export const exampleWebhookSecret = "whsec_ERERERERERERERERERERERERERERERERERERERERERE=";
