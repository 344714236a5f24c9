// Generated from contracts/src by `pnpm generate`. Do not edit.
export const geoAccountAbi = [
	{
		"type": "constructor",
		"inputs": [
			{
				"name": "escrow",
				"type": "address",
				"internalType": "address"
			},
			{
				"name": "typedOnly",
				"type": "bool",
				"internalType": "bool"
			}
		],
		"stateMutability": "nonpayable"
	},
	{
		"type": "fallback",
		"stateMutability": "payable"
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
				"internalType": "address"
			}
		],
		"stateMutability": "view"
	},
	{
		"type": "function",
		"name": "TYPED_ONLY",
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
		"name": "isValidSignature",
		"inputs": [
			{
				"name": "hash",
				"type": "bytes32",
				"internalType": "bytes32"
			},
			{
				"name": "signature",
				"type": "bytes",
				"internalType": "bytes"
			}
		],
		"outputs": [
			{
				"name": "magicValue",
				"type": "bytes4",
				"internalType": "bytes4"
			}
		],
		"stateMutability": "view"
	},
	{
		"type": "function",
		"name": "mandateEpoch",
		"inputs": [],
		"outputs": [
			{
				"name": "",
				"type": "uint64",
				"internalType": "uint64"
			}
		],
		"stateMutability": "view"
	},
	{
		"type": "function",
		"name": "onERC1155BatchReceived",
		"inputs": [
			{
				"name": "",
				"type": "address",
				"internalType": "address"
			},
			{
				"name": "",
				"type": "address",
				"internalType": "address"
			},
			{
				"name": "",
				"type": "uint256[]",
				"internalType": "uint256[]"
			},
			{
				"name": "",
				"type": "uint256[]",
				"internalType": "uint256[]"
			},
			{
				"name": "",
				"type": "bytes",
				"internalType": "bytes"
			}
		],
		"outputs": [
			{
				"name": "",
				"type": "bytes4",
				"internalType": "bytes4"
			}
		],
		"stateMutability": "nonpayable"
	},
	{
		"type": "function",
		"name": "onERC1155Received",
		"inputs": [
			{
				"name": "",
				"type": "address",
				"internalType": "address"
			},
			{
				"name": "",
				"type": "address",
				"internalType": "address"
			},
			{
				"name": "",
				"type": "uint256",
				"internalType": "uint256"
			},
			{
				"name": "",
				"type": "uint256",
				"internalType": "uint256"
			},
			{
				"name": "",
				"type": "bytes",
				"internalType": "bytes"
			}
		],
		"outputs": [
			{
				"name": "",
				"type": "bytes4",
				"internalType": "bytes4"
			}
		],
		"stateMutability": "nonpayable"
	},
	{
		"type": "function",
		"name": "onERC721Received",
		"inputs": [
			{
				"name": "",
				"type": "address",
				"internalType": "address"
			},
			{
				"name": "",
				"type": "address",
				"internalType": "address"
			},
			{
				"name": "",
				"type": "uint256",
				"internalType": "uint256"
			},
			{
				"name": "",
				"type": "bytes",
				"internalType": "bytes"
			}
		],
		"outputs": [
			{
				"name": "",
				"type": "bytes4",
				"internalType": "bytes4"
			}
		],
		"stateMutability": "nonpayable"
	},
	{
		"type": "function",
		"name": "pay",
		"inputs": [
			{
				"name": "orderId",
				"type": "bytes32",
				"internalType": "bytes32"
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
		"outputs": [],
		"stateMutability": "nonpayable"
	},
	{
		"type": "function",
		"name": "revokeMandates",
		"inputs": [
			{
				"name": "proof",
				"type": "bytes",
				"internalType": "bytes"
			}
		],
		"outputs": [],
		"stateMutability": "nonpayable"
	},
	{
		"type": "function",
		"name": "supportsInterface",
		"inputs": [
			{
				"name": "interfaceId",
				"type": "bytes4",
				"internalType": "bytes4"
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
		"type": "event",
		"name": "MandatesRevoked",
		"inputs": [
			{
				"name": "epoch",
				"type": "uint64",
				"indexed": false,
				"internalType": "uint64"
			}
		],
		"anonymous": false
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
		"name": "InvalidProof",
		"inputs": []
	},
	{
		"type": "error",
		"name": "MandateExceeded",
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
		"name": "MandateExpired",
		"inputs": [
			{
				"name": "expiry",
				"type": "uint256",
				"internalType": "uint256"
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
		"name": "OnlyEscrow",
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
		"name": "Opaque",
		"inputs": []
	},
	{
		"type": "error",
		"name": "OutsideMandate",
		"inputs": []
	},
	{
		"type": "error",
		"name": "PaymentFailed",
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
		"name": "WrongOrder",
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
		"name": "WrongSigner",
		"inputs": [
			{
				"name": "signer",
				"type": "address",
				"internalType": "address"
			}
		]
	}
] as const;
