// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {AccessManager} from "@openzeppelin/contracts/access/manager/AccessManager.sol";
import {IGeoEscrow} from "../../src/interfaces/IGeoEscrow.sol";
import {Attesters} from "../base/Attesters.sol";
import {word} from "../base/orders.sol";
import {vm} from "../base/Vm.sol";
import {IVault, World} from "../base/World.sol";
import {FakeVault} from "../mocks/FakeVault.sol";
import {BlockingToken, FeeToken, HookToken, NoReturnToken, RebasingToken} from "../mocks/HostileTokens.sol";
import {CodedWallet} from "../mocks/CodedWallet.sol";
import {Messenger} from "../mocks/Messenger.sol";
import {PriceFeed} from "../mocks/PriceFeed.sol";
import {Pools, Router, WrappedNative} from "../mocks/Router.sol";
import {Token} from "../mocks/Token.sol";

/// @dev Two chains in one state. Each has its own escrow and vault, and a call is made on one of them by going there
/// first. Tokens are shared, which the escrows and vaults cannot detect. So is the storage of a wallet, so that to
/// revoke its mandates on one chain ends those of the other, too.
abstract contract Chains is World, Attesters {
    uint256 internal constant CHAINS = 2;
    uint256 internal constant INVENTORY = 1e30;
    /// @dev The first two wallets are delegated, to the plain account and to the one for typed data only.
    uint256 internal constant DELEGATED = 2;

    IGeoEscrow[] internal escrows;
    IVault[] internal vaults;
    /// @dev Per chain: the plain account, and the one for typed data only.
    address[DELEGATED][] internal accounts;
    address[] internal routes;
    FakeVault internal fakeVault;
    Router internal router;
    Pools internal pools;
    WrappedNative internal wrapped;
    Messenger internal messenger;
    /// @dev Of the second chain; the first has no sequencer.
    PriceFeed internal sequencer;
    mapping(address token => PriceFeed) internal priceOf;

    Token internal plain;
    FeeToken internal fee;
    NoReturnToken internal noReturn;
    BlockingToken internal blocking;
    HookToken internal hook;
    RebasingToken internal rebasing;
    /// @dev The native token is the first.
    address[] internal tokens;

    CodedWallet internal intruder;
    CodedWallet internal refuser;
    CodedWallet internal burner;
    address[] internal wallets;

    /// @dev The chain whose accounts the wallets are delegated to right now. None yet.
    uint256 private _here = CHAINS;

    address internal relayer = _actor("relayer");
    address internal safe = _actor("safe");

    function _deployChains() internal {
        _createAttesters(3);
        plain = new Token();
        fee = new FeeToken();
        noReturn = new NoReturnToken();
        blocking = new BlockingToken();
        hook = new HookToken();
        rebasing = new RebasingToken();
        wrapped = new WrappedNative();
        router = new Router();
        pools = router.POOLS();
        tokens = [
            NATIVE, address(plain), address(fee), address(noReturn), address(blocking), address(hook), address(rebasing)
        ];
        intruder = new CodedWallet();
        refuser = new CodedWallet();
        burner = new CodedWallet();
        hook.setHook(intruder);
        wallets = [_actor("wallet 0"), _actor("wallet 1"), address(intruder), address(refuser), address(burner)];
        fakeVault = new FakeVault();
        messenger = new Messenger();
        sequencer = new PriceFeed(0, 0);
        // Decimals differ, so that a price that is scaled wrongly is detected.
        fee.setDecimals(18);
        noReturn.setDecimals(8);
        _deployFeed(NATIVE, 8, 2000e8);
        _deployFeed(address(plain), 8, 1e8);
        _deployFeed(address(fee), 18, 5e16);
        _deployFeed(address(noReturn), 6, 60_000e6);

        AccessManager manager = _deployManager();
        for (uint256 chain = 0; chain < CHAINS; ++chain) {
            vm.chainId(_chainId(chain));
            escrows.push(_deployEscrow());
            address feed = chain == 0 ? address(0) : address(sequencer);
            vaults.push(_deployVault(manager, escrows[chain], address(router), address(plain), address(wrapped), feed));
            _wireRoles(manager, vaults[chain]);
            accounts.push([_deployAccount(escrows[chain], false), _deployAccount(escrows[chain], true)]);
        }
        for (uint256 chain = 0; chain < CHAINS; ++chain) {
            bytes32 recipient = word(address(vaults[1 - chain]));
            messenger.setKnown(uint32(chain), true);
            address route = address(
                _deployRoute(address(vaults[chain]), address(messenger), address(plain), uint32(chain), recipient, 14)
            );
            routes.push(route);
        }
        _inventory();
    }

    function _inventory() private {
        vm.deal(address(this), INVENTORY);
        wrapped.deposit{value: INVENTORY}();
        wrapped.transfer(address(pools), INVENTORY);
        for (uint256 i = 1; i < tokens.length; ++i) {
            Token token = Token(tokens[i]);
            token.mint(address(pools), INVENTORY);
            for (uint256 chain = 0; chain < CHAINS; ++chain) {
                token.mint(address(vaults[chain]), INVENTORY);
            }
            for (uint256 w = 0; w < wallets.length; ++w) {
                token.mint(wallets[w], INVENTORY);
            }
        }
        for (uint256 chain = 0; chain < CHAINS; ++chain) {
            vm.deal(address(vaults[chain]), INVENTORY);
        }
        for (uint256 w = 0; w < wallets.length; ++w) {
            vm.deal(wallets[w], INVENTORY);
        }
    }

    function _deployFeed(address token, uint8 decimals, int256 price) private {
        priceOf[token] = new PriceFeed(decimals, price);
    }

    /// @dev The following calls are made on this chain, where the delegated wallets have the code that they delegated
    /// to there.
    function _goTo(uint256 chain) internal {
        vm.chainId(_chainId(chain));
        if (_here == chain) return;
        _here = chain;
        for (uint256 i = 0; i < DELEGATED; ++i) {
            vm.etch(wallets[i], abi.encodePacked(hex"ef0100", accounts[chain][i]));
        }
    }

    function _isDelegated(address account) internal view returns (bool) {
        return account == wallets[0] || account == wallets[1];
    }

    function _chainId(uint256 chain) internal pure returns (uint256) {
        return 1000 + chain;
    }

    function _chainOf(uint256 chainId) internal pure returns (uint256) {
        return chainId - 1000;
    }

    function _token(address token) internal pure returns (Token) {
        return Token(token);
    }

    function _isEscrow(address account) internal view returns (bool) {
        return account == address(escrows[0]) || account == address(escrows[1]);
    }

    function _isVault(address account) internal view returns (bool) {
        return account == address(vaults[0]) || account == address(vaults[1]);
    }

    function _balance(address token, address account) internal view returns (uint256) {
        return token == NATIVE ? account.balance : Token(token).balanceOf(account);
    }
}
