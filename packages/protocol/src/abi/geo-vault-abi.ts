// Generated from contracts/src by `pnpm generate`. Do not edit.
export const geoVaultAbi = [
	{
		"type": "constructor",
		"inputs": [
			{
				"name": "authority",
				"type": "address",
				"internalType": "address"
			},
			{
				"name": "escrow",
				"type": "address",
				"internalType": "contract IGeoEscrow"
			},
			{
				"name": "router",
				"type": "address",
				"internalType": "contract ISwapRouter"
			},
			{
				"name": "settlementToken",
				"type": "address",
				"internalType": "address"
			},
			{
				"name": "wrappedNative",
				"type": "address",
				"internalType": "address"
			},
			{
				"name": "sequencerFeed",
				"type": "address",
				"internalType": "contract IAggregatorV3"
			}
		],
		"stateMutability": "nonpayable"
	},
	{
		"type": "receive",
		"stateMutability": "payable"
	},
	{
		"type": "function",
		"name": "ESCROW",
		"inputs": [],
		"outputs": [
			{
				"name": "",
				"type": "address",
				"internalType": "contract IGeoEscrow"
			}
		],
		"stateMutability": "view"
	},
	{
		"type": "function",
		"name": "MAX_SLIPPAGE_BPS",
		"inputs": [],
		"outputs": [
			{
				"name": "",
				"type": "uint256",
				"internalType": "uint256"
			}
		],
		"stateMutability": "view"
	},
	{
		"type": "function",
		"name": "ROUTER",
		"inputs": [],
		"outputs": [
			{
				"name": "",
				"type": "address",
				"internalType": "contract ISwapRouter"
			}
		],
		"stateMutability": "view"
	},
	{
		"type": "function",
		"name": "SEQUENCER_FEED",
		"inputs": [],
		"outputs": [
			{
				"name": "",
				"type": "address",
				"internalType": "contract IAggregatorV3"
			}
		],
		"stateMutability": "view"
	},
	{
		"type": "function",
		"name": "SETTLEMENT_TOKEN",
		"inputs": [],
		"outputs": [
			{
				"name": "",
				"type": "address",
				"internalType": "address"
			}
		],
		"stateMutability": "view"
	},
	{
		"type": "function",
		"name": "WRAPPED_NATIVE",
		"inputs": [],
		"outputs": [
			{
				"name": "",
				"type": "address",
				"internalType": "address"
			}
		],
		"stateMutability": "view"
	},
	{
		"type": "function",
		"name": "authority",
		"inputs": [],
		"outputs": [
			{
				"name": "",
				"type": "address",
				"internalType": "address"
			}
		],
		"stateMutability": "view"
	},
	{
		"type": "function",
		"name": "bridge",
		"inputs": [
			{
				"name": "moveId",
				"type": "bytes32",
				"internalType": "bytes32"
			},
			{
				"name": "token",
				"type": "address",
				"internalType": "address"
			},
			{
				"name": "route",
				"type": "address",
				"internalType": "address"
			},
			{
				"name": "amount",
				"type": "uint256",
				"internalType": "uint256"
			},
			{
				"name": "data",
				"type": "bytes",
				"internalType": "bytes"
			}
		],
		"outputs": [],
		"stateMutability": "nonpayable"
	},
	{
		"type": "function",
		"name": "capOf",
		"inputs": [
			{
				"name": "kind",
				"type": "uint8",
				"internalType": "enum CapKind"
			},
			{
				"name": "token",
				"type": "address",
				"internalType": "address"
			},
			{
				"name": "to",
				"type": "address",
				"internalType": "address"
			}
		],
		"outputs": [
			{
				"name": "perHour",
				"type": "uint256",
				"internalType": "uint256"
			},
			{
				"name": "available",
				"type": "uint256",
				"internalType": "uint256"
			}
		],
		"stateMutability": "view"
	},
	{
		"type": "function",
		"name": "claimCredit",
		"inputs": [
			{
				"name": "token",
				"type": "address",
				"internalType": "address"
			},
			{
				"name": "to",
				"type": "address",
				"internalType": "address"
			}
		],
		"outputs": [],
		"stateMutability": "nonpayable"
	},
	{
		"type": "function",
		"name": "feedOf",
		"inputs": [
			{
				"name": "token",
				"type": "address",
				"internalType": "address"
			}
		],
		"outputs": [
			{
				"name": "",
				"type": "tuple",
				"internalType": "struct Feed",
				"components": [
					{
						"name": "feed",
						"type": "address",
						"internalType": "address"
					},
					{
						"name": "maxAge",
						"type": "uint32",
						"internalType": "uint32"
					},
					{
						"name": "feedDecimals",
						"type": "uint8",
						"internalType": "uint8"
					},
					{
						"name": "tokenDecimals",
						"type": "uint8",
						"internalType": "uint8"
					},
					{
						"name": "slippageBps",
						"type": "uint16",
						"internalType": "uint16"
					}
				]
			}
		],
		"stateMutability": "view"
	},
	{
		"type": "function",
		"name": "fill",
		"inputs": [
			{
				"name": "item",
				"type": "tuple",
				"internalType": "struct Fill",
				"components": [
					{
						"name": "order",
						"type": "tuple",
						"internalType": "struct Order",
						"components": [
							{
								"name": "wallet",
								"type": "bytes32",
								"internalType": "bytes32"
							},
							{
								"name": "inputToken",
								"type": "bytes32",
								"internalType": "bytes32"
							},
							{
								"name": "inputAmount",
								"type": "uint256",
								"internalType": "uint256"
							},
							{
								"name": "originChainId",
								"type": "uint256",
								"internalType": "uint256"
							},
							{
								"name": "destinationChainId",
								"type": "uint256",
								"internalType": "uint256"
							},
							{
								"name": "outputToken",
								"type": "bytes32",
								"internalType": "bytes32"
							},
							{
								"name": "minOutput",
								"type": "uint256",
								"internalType": "uint256"
							},
							{
								"name": "recipient",
								"type": "bytes32",
								"internalType": "bytes32"
							},
							{
								"name": "topUp",
								"type": "uint256",
								"internalType": "uint256"
							},
							{
								"name": "escrow",
								"type": "bytes32",
								"internalType": "bytes32"
							},
							{
								"name": "originVault",
								"type": "bytes32",
								"internalType": "bytes32"
							},
							{
								"name": "destinationVault",
								"type": "bytes32",
								"internalType": "bytes32"
							},
							{
								"name": "attesterSet",
								"type": "bytes32",
								"internalType": "bytes32"
							},
							{
								"name": "swapKey",
								"type": "bytes32",
								"internalType": "bytes32"
							},
							{
								"name": "deadlines",
								"type": "uint256",
								"internalType": "Deadlines"
							}
						]
					},
					{
						"name": "amount",
						"type": "uint256",
						"internalType": "uint256"
					},
					{
						"name": "minOutput",
						"type": "uint256",
						"internalType": "uint256"
					},
					{
						"name": "poolFee",
						"type": "uint24",
						"internalType": "uint24"
					},
					{
						"name": "secondPoolFee",
						"type": "uint24",
						"internalType": "uint24"
					}
				]
			}
		],
		"outputs": [],
		"stateMutability": "nonpayable"
	},
	{
		"type": "function",
		"name": "fillMany",
		"inputs": [
			{
				"name": "items",
				"type": "tuple[]",
				"internalType": "struct Fill[]",
				"components": [
					{
						"name": "order",
						"type": "tuple",
						"internalType": "struct Order",
						"components": [
							{
								"name": "wallet",
								"type": "bytes32",
								"internalType": "bytes32"
							},
							{
								"name": "inputToken",
								"type": "bytes32",
								"internalType": "bytes32"
							},
							{
								"name": "inputAmount",
								"type": "uint256",
								"internalType": "uint256"
							},
							{
								"name": "originChainId",
								"type": "uint256",
								"internalType": "uint256"
							},
							{
								"name": "destinationChainId",
								"type": "uint256",
								"internalType": "uint256"
							},
							{
								"name": "outputToken",
								"type": "bytes32",
								"internalType": "bytes32"
							},
							{
								"name": "minOutput",
								"type": "uint256",
								"internalType": "uint256"
							},
							{
								"name": "recipient",
								"type": "bytes32",
								"internalType": "bytes32"
							},
							{
								"name": "topUp",
								"type": "uint256",
								"internalType": "uint256"
							},
							{
								"name": "escrow",
								"type": "bytes32",
								"internalType": "bytes32"
							},
							{
								"name": "originVault",
								"type": "bytes32",
								"internalType": "bytes32"
							},
							{
								"name": "destinationVault",
								"type": "bytes32",
								"internalType": "bytes32"
							},
							{
								"name": "attesterSet",
								"type": "bytes32",
								"internalType": "bytes32"
							},
							{
								"name": "swapKey",
								"type": "bytes32",
								"internalType": "bytes32"
							},
							{
								"name": "deadlines",
								"type": "uint256",
								"internalType": "Deadlines"
							}
						]
					},
					{
						"name": "amount",
						"type": "uint256",
						"internalType": "uint256"
					},
					{
						"name": "minOutput",
						"type": "uint256",
						"internalType": "uint256"
					},
					{
						"name": "poolFee",
						"type": "uint24",
						"internalType": "uint24"
					},
					{
						"name": "secondPoolFee",
						"type": "uint24",
						"internalType": "uint24"
					}
				]
			}
		],
		"outputs": [],
		"stateMutability": "nonpayable"
	},
	{
		"type": "function",
		"name": "fillOne",
		"inputs": [
			{
				"name": "item",
				"type": "tuple",
				"internalType": "struct Fill",
				"components": [
					{
						"name": "order",
						"type": "tuple",
						"internalType": "struct Order",
						"components": [
							{
								"name": "wallet",
								"type": "bytes32",
								"internalType": "bytes32"
							},
							{
								"name": "inputToken",
								"type": "bytes32",
								"internalType": "bytes32"
							},
							{
								"name": "inputAmount",
								"type": "uint256",
								"internalType": "uint256"
							},
							{
								"name": "originChainId",
								"type": "uint256",
								"internalType": "uint256"
							},
							{
								"name": "destinationChainId",
								"type": "uint256",
								"internalType": "uint256"
							},
							{
								"name": "outputToken",
								"type": "bytes32",
								"internalType": "bytes32"
							},
							{
								"name": "minOutput",
								"type": "uint256",
								"internalType": "uint256"
							},
							{
								"name": "recipient",
								"type": "bytes32",
								"internalType": "bytes32"
							},
							{
								"name": "topUp",
								"type": "uint256",
								"internalType": "uint256"
							},
							{
								"name": "escrow",
								"type": "bytes32",
								"internalType": "bytes32"
							},
							{
								"name": "originVault",
								"type": "bytes32",
								"internalType": "bytes32"
							},
							{
								"name": "destinationVault",
								"type": "bytes32",
								"internalType": "bytes32"
							},
							{
								"name": "attesterSet",
								"type": "bytes32",
								"internalType": "bytes32"
							},
							{
								"name": "swapKey",
								"type": "bytes32",
								"internalType": "bytes32"
							},
							{
								"name": "deadlines",
								"type": "uint256",
								"internalType": "Deadlines"
							}
						]
					},
					{
						"name": "amount",
						"type": "uint256",
						"internalType": "uint256"
					},
					{
						"name": "minOutput",
						"type": "uint256",
						"internalType": "uint256"
					},
					{
						"name": "poolFee",
						"type": "uint24",
						"internalType": "uint24"
					},
					{
						"name": "secondPoolFee",
						"type": "uint24",
						"internalType": "uint24"
					}
				]
			}
		],
		"outputs": [],
		"stateMutability": "nonpayable"
	},
	{
		"type": "function",
		"name": "isConsumingScheduledOp",
		"inputs": [],
		"outputs": [
			{
				"name": "",
				"type": "bytes4",
				"internalType": "bytes4"
			}
		],
		"stateMutability": "view"
	},
	{
		"type": "function",
		"name": "isMoved",
		"inputs": [
			{
				"name": "moveId",
				"type": "bytes32",
				"internalType": "bytes32"
			}
		],
		"outputs": [
			{
				"name": "",
				"type": "bool",
				"internalType": "bool"
			}
		],
		"stateMutability": "view"
	},
	{
		"type": "function",
		"name": "orderState",
		"inputs": [
			{
				"name": "orderId",
				"type": "bytes32",
				"internalType": "bytes32"
			}
		],
		"outputs": [
			{
				"name": "",
				"type": "uint8",
				"internalType": "enum VaultState"
			}
		],
		"stateMutability": "view"
	},
	{
		"type": "function",
		"name": "pause",
		"inputs": [],
		"outputs": [],
		"stateMutability": "nonpayable"
	},
	{
		"type": "function",
		"name": "paused",
		"inputs": [],
		"outputs": [
			{
				"name": "",
				"type": "bool",
				"internalType": "bool"
			}
		],
		"stateMutability": "view"
	},
	{
		"type": "function",
		"name": "send",
		"inputs": [
			{
				"name": "moveId",
				"type": "bytes32",
				"internalType": "bytes32"
			},
			{
				"name": "token",
				"type": "address",
				"internalType": "address"
			},
			{
				"name": "to",
				"type": "address",
				"internalType": "address"
			},
			{
				"name": "amount",
				"type": "uint256",
				"internalType": "uint256"
			}
		],
		"outputs": [],
		"stateMutability": "nonpayable"
	},
	{
		"type": "function",
		"name": "setAuthority",
		"inputs": [
			{
				"name": "newAuthority",
				"type": "address",
				"internalType": "address"
			}
		],
		"outputs": [],
		"stateMutability": "nonpayable"
	},
	{
		"type": "function",
		"name": "setCap",
		"inputs": [
			{
				"name": "kind",
				"type": "uint8",
				"internalType": "enum CapKind"
			},
			{
				"name": "token",
				"type": "address",
				"internalType": "address"
			},
			{
				"name": "to",
				"type": "address",
				"internalType": "address"
			},
			{
				"name": "perHour",
				"type": "uint96",
				"internalType": "uint96"
			}
		],
		"outputs": [],
		"stateMutability": "nonpayable"
	},
	{
		"type": "function",
		"name": "setFeed",
		"inputs": [
			{
				"name": "token",
				"type": "address",
				"internalType": "address"
			},
			{
				"name": "feed",
				"type": "address",
				"internalType": "address"
			},
			{
				"name": "maxAge",
				"type": "uint32",
				"internalType": "uint32"
			},
			{
				"name": "slippageBps",
				"type": "uint16",
				"internalType": "uint16"
			}
		],
		"outputs": [],
		"stateMutability": "nonpayable"
	},
	{
		"type": "function",
		"name": "trade",
		"inputs": [
			{
				"name": "moveId",
				"type": "bytes32",
				"internalType": "bytes32"
			},
			{
				"name": "tokenIn",
				"type": "address",
				"internalType": "address"
			},
			{
				"name": "tokenOut",
				"type": "address",
				"internalType": "address"
			},
			{
				"name": "amountIn",
				"type": "uint256",
				"internalType": "uint256"
			},
			{
				"name": "minOut",
				"type": "uint256",
				"internalType": "uint256"
			},
			{
				"name": "poolFee",
				"type": "uint24",
				"internalType": "uint24"
			},
			{
				"name": "secondPoolFee",
				"type": "uint24",
				"internalType": "uint24"
			},
			{
				"name": "deadline",
				"type": "uint256",
				"internalType": "uint256"
			}
		],
		"outputs": [
			{
				"name": "amountOut",
				"type": "uint256",
				"internalType": "uint256"
			}
		],
		"stateMutability": "nonpayable"
	},
	{
		"type": "function",
		"name": "tradeFloor",
		"inputs": [
			{
				"name": "tokenIn",
				"type": "address",
				"internalType": "address"
			},
			{
				"name": "tokenOut",
				"type": "address",
				"internalType": "address"
			},
			{
				"name": "amountIn",
				"type": "uint256",
				"internalType": "uint256"
			}
		],
		"outputs": [
			{
				"name": "",
				"type": "uint256",
				"internalType": "uint256"
			}
		],
		"stateMutability": "view"
	},
	{
		"type": "function",
		"name": "unpause",
		"inputs": [],
		"outputs": [],
		"stateMutability": "nonpayable"
	},
	{
		"type": "function",
		"name": "void",
		"inputs": [
			{
				"name": "order",
				"type": "tuple",
				"internalType": "struct Order",
				"components": [
					{
						"name": "wallet",
						"type": "bytes32",
						"internalType": "bytes32"
					},
					{
						"name": "inputToken",
						"type": "bytes32",
						"internalType": "bytes32"
					},
					{
						"name": "inputAmount",
						"type": "uint256",
						"internalType": "uint256"
					},
					{
						"name": "originChainId",
						"type": "uint256",
						"internalType": "uint256"
					},
					{
						"name": "destinationChainId",
						"type": "uint256",
						"internalType": "uint256"
					},
					{
						"name": "outputToken",
						"type": "bytes32",
						"internalType": "bytes32"
					},
					{
						"name": "minOutput",
						"type": "uint256",
						"internalType": "uint256"
					},
					{
						"name": "recipient",
						"type": "bytes32",
						"internalType": "bytes32"
					},
					{
						"name": "topUp",
						"type": "uint256",
						"internalType": "uint256"
					},
					{
						"name": "escrow",
						"type": "bytes32",
						"internalType": "bytes32"
					},
					{
						"name": "originVault",
						"type": "bytes32",
						"internalType": "bytes32"
					},
					{
						"name": "destinationVault",
						"type": "bytes32",
						"internalType": "bytes32"
					},
					{
						"name": "attesterSet",
						"type": "bytes32",
						"internalType": "bytes32"
					},
					{
						"name": "swapKey",
						"type": "bytes32",
						"internalType": "bytes32"
					},
					{
						"name": "deadlines",
						"type": "uint256",
						"internalType": "Deadlines"
					}
				]
			}
		],
		"outputs": [],
		"stateMutability": "nonpayable"
	},
	{
		"type": "function",
		"name": "voidMany",
		"inputs": [
			{
				"name": "orders",
				"type": "tuple[]",
				"internalType": "struct Order[]",
				"components": [
					{
						"name": "wallet",
						"type": "bytes32",
						"internalType": "bytes32"
					},
					{
						"name": "inputToken",
						"type": "bytes32",
						"internalType": "bytes32"
					},
					{
						"name": "inputAmount",
						"type": "uint256",
						"internalType": "uint256"
					},
					{
						"name": "originChainId",
						"type": "uint256",
						"internalType": "uint256"
					},
					{
						"name": "destinationChainId",
						"type": "uint256",
						"internalType": "uint256"
					},
					{
						"name": "outputToken",
						"type": "bytes32",
						"internalType": "bytes32"
					},
					{
						"name": "minOutput",
						"type": "uint256",
						"internalType": "uint256"
					},
					{
						"name": "recipient",
						"type": "bytes32",
						"internalType": "bytes32"
					},
					{
						"name": "topUp",
						"type": "uint256",
						"internalType": "uint256"
					},
					{
						"name": "escrow",
						"type": "bytes32",
						"internalType": "bytes32"
					},
					{
						"name": "originVault",
						"type": "bytes32",
						"internalType": "bytes32"
					},
					{
						"name": "destinationVault",
						"type": "bytes32",
						"internalType": "bytes32"
					},
					{
						"name": "attesterSet",
						"type": "bytes32",
						"internalType": "bytes32"
					},
					{
						"name": "swapKey",
						"type": "bytes32",
						"internalType": "bytes32"
					},
					{
						"name": "deadlines",
						"type": "uint256",
						"internalType": "Deadlines"
					}
				]
			}
		],
		"outputs": [],
		"stateMutability": "nonpayable"
	},
	{
		"type": "function",
		"name": "withdraw",
		"inputs": [
			{
				"name": "token",
				"type": "address",
				"internalType": "address"
			},
			{
				"name": "to",
				"type": "address",
				"internalType": "address"
			},
			{
				"name": "amount",
				"type": "uint256",
				"internalType": "uint256"
			}
		],
		"outputs": [],
		"stateMutability": "nonpayable"
	},
	{
		"type": "event",
		"name": "AuthorityUpdated",
		"inputs": [
			{
				"name": "authority",
				"type": "address",
				"indexed": false,
				"internalType": "address"
			}
		],
		"anonymous": false
	},
	{
		"type": "event",
		"name": "Bridged",
		"inputs": [
			{
				"name": "moveId",
				"type": "bytes32",
				"indexed": true,
				"internalType": "bytes32"
			},
			{
				"name": "token",
				"type": "address",
				"indexed": true,
				"internalType": "address"
			},
			{
				"name": "route",
				"type": "address",
				"indexed": true,
				"internalType": "address"
			},
			{
				"name": "amount",
				"type": "uint256",
				"indexed": false,
				"internalType": "uint256"
			},
			{
				"name": "data",
				"type": "bytes",
				"indexed": false,
				"internalType": "bytes"
			}
		],
		"anonymous": false
	},
	{
		"type": "event",
		"name": "CapSet",
		"inputs": [
			{
				"name": "kind",
				"type": "uint8",
				"indexed": true,
				"internalType": "enum CapKind"
			},
			{
				"name": "token",
				"type": "address",
				"indexed": true,
				"internalType": "address"
			},
			{
				"name": "to",
				"type": "address",
				"indexed": true,
				"internalType": "address"
			},
			{
				"name": "perHour",
				"type": "uint256",
				"indexed": false,
				"internalType": "uint256"
			}
		],
		"anonymous": false
	},
	{
		"type": "event",
		"name": "FeedSet",
		"inputs": [
			{
				"name": "token",
				"type": "address",
				"indexed": true,
				"internalType": "address"
			},
			{
				"name": "feed",
				"type": "tuple",
				"indexed": false,
				"internalType": "struct Feed",
				"components": [
					{
						"name": "feed",
						"type": "address",
						"internalType": "address"
					},
					{
						"name": "maxAge",
						"type": "uint32",
						"internalType": "uint32"
					},
					{
						"name": "feedDecimals",
						"type": "uint8",
						"internalType": "uint8"
					},
					{
						"name": "tokenDecimals",
						"type": "uint8",
						"internalType": "uint8"
					},
					{
						"name": "slippageBps",
						"type": "uint16",
						"internalType": "uint16"
					}
				]
			}
		],
		"anonymous": false
	},
	{
		"type": "event",
		"name": "Filled",
		"inputs": [
			{
				"name": "orderId",
				"type": "bytes32",
				"indexed": true,
				"internalType": "bytes32"
			},
			{
				"name": "delivered",
				"type": "uint256",
				"indexed": false,
				"internalType": "uint256"
			},
			{
				"name": "spentToken",
				"type": "address",
				"indexed": false,
				"internalType": "address"
			},
			{
				"name": "spent",
				"type": "uint256",
				"indexed": false,
				"internalType": "uint256"
			}
		],
		"anonymous": false
	},
	{
		"type": "event",
		"name": "Paused",
		"inputs": [
			{
				"name": "account",
				"type": "address",
				"indexed": false,
				"internalType": "address"
			}
		],
		"anonymous": false
	},
	{
		"type": "event",
		"name": "Sent",
		"inputs": [
			{
				"name": "moveId",
				"type": "bytes32",
				"indexed": true,
				"internalType": "bytes32"
			},
			{
				"name": "token",
				"type": "address",
				"indexed": true,
				"internalType": "address"
			},
			{
				"name": "to",
				"type": "address",
				"indexed": true,
				"internalType": "address"
			},
			{
				"name": "amount",
				"type": "uint256",
				"indexed": false,
				"internalType": "uint256"
			}
		],
		"anonymous": false
	},
	{
		"type": "event",
		"name": "Skipped",
		"inputs": [
			{
				"name": "orderId",
				"type": "bytes32",
				"indexed": true,
				"internalType": "bytes32"
			},
			{
				"name": "reason",
				"type": "bytes4",
				"indexed": false,
				"internalType": "bytes4"
			}
		],
		"anonymous": false
	},
	{
		"type": "event",
		"name": "ToppedUp",
		"inputs": [
			{
				"name": "orderId",
				"type": "bytes32",
				"indexed": true,
				"internalType": "bytes32"
			},
			{
				"name": "amount",
				"type": "uint256",
				"indexed": false,
				"internalType": "uint256"
			},
			{
				"name": "paid",
				"type": "bool",
				"indexed": false,
				"internalType": "bool"
			}
		],
		"anonymous": false
	},
	{
		"type": "event",
		"name": "Traded",
		"inputs": [
			{
				"name": "moveId",
				"type": "bytes32",
				"indexed": true,
				"internalType": "bytes32"
			},
			{
				"name": "tokenIn",
				"type": "address",
				"indexed": true,
				"internalType": "address"
			},
			{
				"name": "tokenOut",
				"type": "address",
				"indexed": true,
				"internalType": "address"
			},
			{
				"name": "amountIn",
				"type": "uint256",
				"indexed": false,
				"internalType": "uint256"
			},
			{
				"name": "amountOut",
				"type": "uint256",
				"indexed": false,
				"internalType": "uint256"
			},
			{
				"name": "minimum",
				"type": "uint256",
				"indexed": false,
				"internalType": "uint256"
			}
		],
		"anonymous": false
	},
	{
		"type": "event",
		"name": "Unpaused",
		"inputs": [
			{
				"name": "account",
				"type": "address",
				"indexed": false,
				"internalType": "address"
			}
		],
		"anonymous": false
	},
	{
		"type": "event",
		"name": "Voided",
		"inputs": [
			{
				"name": "orderId",
				"type": "bytes32",
				"indexed": true,
				"internalType": "bytes32"
			}
		],
		"anonymous": false
	},
	{
		"type": "event",
		"name": "Withdrawn",
		"inputs": [
			{
				"name": "token",
				"type": "address",
				"indexed": true,
				"internalType": "address"
			},
			{
				"name": "to",
				"type": "address",
				"indexed": true,
				"internalType": "address"
			},
			{
				"name": "amount",
				"type": "uint256",
				"indexed": false,
				"internalType": "uint256"
			}
		],
		"anonymous": false
	},
	{
		"type": "error",
		"name": "AccessManagedInvalidAuthority",
		"inputs": [
			{
				"name": "authority",
				"type": "address",
				"internalType": "address"
			}
		]
	},
	{
		"type": "error",
		"name": "AccessManagedRequiredDelay",
		"inputs": [
			{
				"name": "caller",
				"type": "address",
				"internalType": "address"
			},
			{
				"name": "delay",
				"type": "uint32",
				"internalType": "uint32"
			}
		]
	},
	{
		"type": "error",
		"name": "AccessManagedUnauthorized",
		"inputs": [
			{
				"name": "caller",
				"type": "address",
				"internalType": "address"
			}
		]
	},
	{
		"type": "error",
		"name": "AlreadyDecided",
		"inputs": [
			{
				"name": "orderId",
				"type": "bytes32",
				"internalType": "bytes32"
			}
		]
	},
	{
		"type": "error",
		"name": "AlreadyMoved",
		"inputs": [
			{
				"name": "moveId",
				"type": "bytes32",
				"internalType": "bytes32"
			}
		]
	},
	{
		"type": "error",
		"name": "BudgetNotSpent",
		"inputs": [
			{
				"name": "left",
				"type": "uint256",
				"internalType": "uint256"
			}
		]
	},
	{
		"type": "error",
		"name": "CapExceeded",
		"inputs": [
			{
				"name": "asked",
				"type": "uint256",
				"internalType": "uint256"
			},
			{
				"name": "available",
				"type": "uint256",
				"internalType": "uint256"
			}
		]
	},
	{
		"type": "error",
		"name": "EnforcedPause",
		"inputs": []
	},
	{
		"type": "error",
		"name": "ExpectedPause",
		"inputs": []
	},
	{
		"type": "error",
		"name": "FillExpired",
		"inputs": [
			{
				"name": "fillDeadline",
				"type": "uint256",
				"internalType": "uint256"
			}
		]
	},
	{
		"type": "error",
		"name": "InsufficientGas",
		"inputs": []
	},
	{
		"type": "error",
		"name": "InvalidFeed",
		"inputs": []
	},
	{
		"type": "error",
		"name": "NativeTransferFailed",
		"inputs": [
			{
				"name": "to",
				"type": "address",
				"internalType": "address"
			}
		]
	},
	{
		"type": "error",
		"name": "NoNative",
		"inputs": [
			{
				"name": "balance",
				"type": "uint256",
				"internalType": "uint256"
			},
			{
				"name": "topUp",
				"type": "uint256",
				"internalType": "uint256"
			}
		]
	},
	{
		"type": "error",
		"name": "NoPrice",
		"inputs": [
			{
				"name": "token",
				"type": "address",
				"internalType": "address"
			}
		]
	},
	{
		"type": "error",
		"name": "NotAnAddress",
		"inputs": [
			{
				"name": "word",
				"type": "bytes32",
				"internalType": "bytes32"
			}
		]
	},
	{
		"type": "error",
		"name": "NotListed",
		"inputs": [
			{
				"name": "token",
				"type": "address",
				"internalType": "address"
			}
		]
	},
	{
		"type": "error",
		"name": "OnlySelf",
		"inputs": []
	},
	{
		"type": "error",
		"name": "ReentrancyGuardReentrantCall",
		"inputs": []
	},
	{
		"type": "error",
		"name": "SafeERC20FailedOperation",
		"inputs": [
			{
				"name": "token",
				"type": "address",
				"internalType": "address"
			}
		]
	},
	{
		"type": "error",
		"name": "SequencerDown",
		"inputs": []
	},
	{
		"type": "error",
		"name": "TooLittleDelivered",
		"inputs": [
			{
				"name": "delivered",
				"type": "uint256",
				"internalType": "uint256"
			},
			{
				"name": "minimum",
				"type": "uint256",
				"internalType": "uint256"
			}
		]
	},
	{
		"type": "error",
		"name": "TooLittleReceived",
		"inputs": [
			{
				"name": "received",
				"type": "uint256",
				"internalType": "uint256"
			},
			{
				"name": "minimum",
				"type": "uint256",
				"internalType": "uint256"
			}
		]
	},
	{
		"type": "error",
		"name": "TradeExpired",
		"inputs": [
			{
				"name": "deadline",
				"type": "uint256",
				"internalType": "uint256"
			}
		]
	},
	{
		"type": "error",
		"name": "WrongOrigin",
		"inputs": [
			{
				"name": "escrow",
				"type": "bytes32",
				"internalType": "bytes32"
			},
			{
				"name": "originVault",
				"type": "bytes32",
				"internalType": "bytes32"
			}
		]
	},
	{
		"type": "error",
		"name": "WrongPair",
		"inputs": [
			{
				"name": "token",
				"type": "address",
				"internalType": "address"
			},
			{
				"name": "other",
				"type": "address",
				"internalType": "address"
			}
		]
	},
	{
		"type": "error",
		"name": "WrongVault",
		"inputs": [
			{
				"name": "destinationChainId",
				"type": "uint256",
				"internalType": "uint256"
			},
			{
				"name": "destinationVault",
				"type": "bytes32",
				"internalType": "bytes32"
			}
		]
	},
	{
		"type": "error",
		"name": "ZeroAmount",
		"inputs": []
	}
] as const;
