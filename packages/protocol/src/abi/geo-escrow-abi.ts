// Generated from contracts/src by `pnpm generate`. Do not edit.
export const geoEscrowAbi = [
	{
		"type": "constructor",
		"inputs": [],
		"stateMutability": "nonpayable"
	},
	{
		"type": "receive",
		"stateMutability": "payable"
	},
	{
		"type": "function",
		"name": "MAX_REFUND_DELAY",
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
		"name": "claim",
		"inputs": [
			{
				"name": "token",
				"type": "address",
				"internalType": "address"
			},
			{
				"name": "beneficiary",
				"type": "address",
				"internalType": "address"
			}
		],
		"outputs": [],
		"stateMutability": "nonpayable"
	},
	{
		"type": "function",
		"name": "claimTo",
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
		"name": "credit",
		"inputs": [
			{
				"name": "token",
				"type": "address",
				"internalType": "address"
			},
			{
				"name": "beneficiary",
				"type": "address",
				"internalType": "address"
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
		"name": "eip712Domain",
		"inputs": [],
		"outputs": [
			{
				"name": "fields",
				"type": "bytes1",
				"internalType": "bytes1"
			},
			{
				"name": "name",
				"type": "string",
				"internalType": "string"
			},
			{
				"name": "version",
				"type": "string",
				"internalType": "string"
			},
			{
				"name": "chainId",
				"type": "uint256",
				"internalType": "uint256"
			},
			{
				"name": "verifyingContract",
				"type": "address",
				"internalType": "address"
			},
			{
				"name": "salt",
				"type": "bytes32",
				"internalType": "bytes32"
			},
			{
				"name": "extensions",
				"type": "uint256[]",
				"internalType": "uint256[]"
			}
		],
		"stateMutability": "view"
	},
	{
		"type": "function",
		"name": "open",
		"inputs": [
			{
				"name": "terms",
				"type": "tuple",
				"internalType": "struct Terms",
				"components": [
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
		"outputs": [
			{
				"name": "orderId",
				"type": "bytes32",
				"internalType": "bytes32"
			}
		],
		"stateMutability": "payable"
	},
	{
		"type": "function",
		"name": "openFor",
		"inputs": [
			{
				"name": "wallet",
				"type": "address",
				"internalType": "address"
			},
			{
				"name": "terms",
				"type": "tuple",
				"internalType": "struct Terms",
				"components": [
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
				"name": "proof",
				"type": "bytes",
				"internalType": "bytes"
			}
		],
		"outputs": [
			{
				"name": "orderId",
				"type": "bytes32",
				"internalType": "bytes32"
			}
		],
		"stateMutability": "nonpayable"
	},
	{
		"type": "function",
		"name": "openMany",
		"inputs": [
			{
				"name": "openings",
				"type": "tuple[]",
				"internalType": "struct Opening[]",
				"components": [
					{
						"name": "wallet",
						"type": "address",
						"internalType": "address"
					},
					{
						"name": "gas",
						"type": "uint256",
						"internalType": "uint256"
					},
					{
						"name": "terms",
						"type": "tuple",
						"internalType": "struct Terms",
						"components": [
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
						"name": "proof",
						"type": "bytes",
						"internalType": "bytes"
					}
				]
			}
		],
		"outputs": [],
		"stateMutability": "nonpayable"
	},
	{
		"type": "function",
		"name": "orderIdOf",
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
		"outputs": [
			{
				"name": "",
				"type": "bytes32",
				"internalType": "bytes32"
			}
		],
		"stateMutability": "pure"
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
				"internalType": "enum EscrowState"
			}
		],
		"stateMutability": "view"
	},
	{
		"type": "function",
		"name": "refund",
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
		"name": "refundDigest",
		"inputs": [
			{
				"name": "orderIds",
				"type": "bytes32[]",
				"internalType": "bytes32[]"
			}
		],
		"outputs": [
			{
				"name": "",
				"type": "bytes32",
				"internalType": "bytes32"
			}
		],
		"stateMutability": "view"
	},
	{
		"type": "function",
		"name": "refundEarly",
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
			},
			{
				"name": "attestation",
				"type": "tuple",
				"internalType": "struct Attestation",
				"components": [
					{
						"name": "threshold",
						"type": "uint256",
						"internalType": "uint256"
					},
					{
						"name": "attesters",
						"type": "address[]",
						"internalType": "address[]"
					},
					{
						"name": "signatures",
						"type": "bytes[]",
						"internalType": "bytes[]"
					}
				]
			}
		],
		"outputs": [],
		"stateMutability": "nonpayable"
	},
	{
		"type": "function",
		"name": "refundMany",
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
			},
			{
				"name": "attestation",
				"type": "tuple",
				"internalType": "struct Attestation",
				"components": [
					{
						"name": "threshold",
						"type": "uint256",
						"internalType": "uint256"
					},
					{
						"name": "attesters",
						"type": "address[]",
						"internalType": "address[]"
					},
					{
						"name": "signatures",
						"type": "bytes[]",
						"internalType": "bytes[]"
					}
				]
			}
		],
		"outputs": [],
		"stateMutability": "nonpayable"
	},
	{
		"type": "function",
		"name": "release",
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
			},
			{
				"name": "attestation",
				"type": "tuple",
				"internalType": "struct Attestation",
				"components": [
					{
						"name": "threshold",
						"type": "uint256",
						"internalType": "uint256"
					},
					{
						"name": "attesters",
						"type": "address[]",
						"internalType": "address[]"
					},
					{
						"name": "signatures",
						"type": "bytes[]",
						"internalType": "bytes[]"
					}
				]
			}
		],
		"outputs": [],
		"stateMutability": "nonpayable"
	},
	{
		"type": "function",
		"name": "releaseDigest",
		"inputs": [
			{
				"name": "orderIds",
				"type": "bytes32[]",
				"internalType": "bytes32[]"
			}
		],
		"outputs": [
			{
				"name": "",
				"type": "bytes32",
				"internalType": "bytes32"
			}
		],
		"stateMutability": "view"
	},
	{
		"type": "function",
		"name": "releaseFilled",
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
		"name": "releaseMany",
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
			},
			{
				"name": "attestation",
				"type": "tuple",
				"internalType": "struct Attestation",
				"components": [
					{
						"name": "threshold",
						"type": "uint256",
						"internalType": "uint256"
					},
					{
						"name": "attesters",
						"type": "address[]",
						"internalType": "address[]"
					},
					{
						"name": "signatures",
						"type": "bytes[]",
						"internalType": "bytes[]"
					}
				]
			}
		],
		"outputs": [],
		"stateMutability": "nonpayable"
	},
	{
		"type": "function",
		"name": "typedDigest",
		"inputs": [
			{
				"name": "structHash",
				"type": "bytes32",
				"internalType": "bytes32"
			}
		],
		"outputs": [
			{
				"name": "",
				"type": "bytes32",
				"internalType": "bytes32"
			}
		],
		"stateMutability": "view"
	},
	{
		"type": "event",
		"name": "Claimed",
		"inputs": [
			{
				"name": "beneficiary",
				"type": "address",
				"indexed": true,
				"internalType": "address"
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
				"indexed": false,
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
		"name": "Credited",
		"inputs": [
			{
				"name": "orderId",
				"type": "bytes32",
				"indexed": true,
				"internalType": "bytes32"
			},
			{
				"name": "beneficiary",
				"type": "address",
				"indexed": true,
				"internalType": "address"
			},
			{
				"name": "token",
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
		"name": "EIP712DomainChanged",
		"inputs": [],
		"anonymous": false
	},
	{
		"type": "event",
		"name": "NotOpened",
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
		"name": "Opened",
		"inputs": [
			{
				"name": "orderId",
				"type": "bytes32",
				"indexed": true,
				"internalType": "bytes32"
			},
			{
				"name": "wallet",
				"type": "address",
				"indexed": true,
				"internalType": "address"
			},
			{
				"name": "terms",
				"type": "tuple",
				"indexed": false,
				"internalType": "struct Terms",
				"components": [
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
		"anonymous": false
	},
	{
		"type": "event",
		"name": "Refunded",
		"inputs": [
			{
				"name": "orderId",
				"type": "bytes32",
				"indexed": true,
				"internalType": "bytes32"
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
		"name": "Released",
		"inputs": [
			{
				"name": "orderId",
				"type": "bytes32",
				"indexed": true,
				"internalType": "bytes32"
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
		"name": "Skipped",
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
		"type": "error",
		"name": "AlreadyOpened",
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
		"name": "ClaimFailed",
		"inputs": []
	},
	{
		"type": "error",
		"name": "ECDSAInvalidSignature",
		"inputs": []
	},
	{
		"type": "error",
		"name": "ECDSAInvalidSignatureLength",
		"inputs": [
			{
				"name": "length",
				"type": "uint256",
				"internalType": "uint256"
			}
		]
	},
	{
		"type": "error",
		"name": "ECDSAInvalidSignatureS",
		"inputs": [
			{
				"name": "s",
				"type": "bytes32",
				"internalType": "bytes32"
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
		"name": "InvalidAmount",
		"inputs": []
	},
	{
		"type": "error",
		"name": "InvalidAttester",
		"inputs": [
			{
				"name": "signer",
				"type": "address",
				"internalType": "address"
			}
		]
	},
	{
		"type": "error",
		"name": "InvalidDeadlines",
		"inputs": []
	},
	{
		"type": "error",
		"name": "InvalidShortString",
		"inputs": []
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
		"name": "NotOpen",
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
		"name": "NotOpening",
		"inputs": []
	},
	{
		"type": "error",
		"name": "NotTheVault",
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
		"name": "NothingToClaim",
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
		"name": "StringTooLong",
		"inputs": [
			{
				"name": "str",
				"type": "string",
				"internalType": "string"
			}
		]
	},
	{
		"type": "error",
		"name": "ThresholdNotMet",
		"inputs": [
			{
				"name": "signatures",
				"type": "uint256",
				"internalType": "uint256"
			},
			{
				"name": "threshold",
				"type": "uint256",
				"internalType": "uint256"
			}
		]
	},
	{
		"type": "error",
		"name": "TooEarly",
		"inputs": [
			{
				"name": "refundAfter",
				"type": "uint256",
				"internalType": "uint256"
			}
		]
	},
	{
		"type": "error",
		"name": "WrongAmount",
		"inputs": [
			{
				"name": "expected",
				"type": "uint256",
				"internalType": "uint256"
			},
			{
				"name": "received",
				"type": "uint256",
				"internalType": "uint256"
			}
		]
	},
	{
		"type": "error",
		"name": "WrongAttesterSet",
		"inputs": [
			{
				"name": "expected",
				"type": "bytes32",
				"internalType": "bytes32"
			},
			{
				"name": "given",
				"type": "bytes32",
				"internalType": "bytes32"
			}
		]
	}
] as const;
