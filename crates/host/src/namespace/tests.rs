use super::*;

/// Returns a namespace, or prints why the test is skipped.
fn namespace() -> Option<Namespace> {
    match Namespace::new() {
        Ok(namespace) => Some(namespace),
        Err(error) => {
            airtcp_needs::skip(error);
            None
        }
    }
}

fn inode(namespace: &Namespace) -> u64 {
    rustix::fs::fstat(&namespace.0).unwrap().st_ino
}

#[test]
fn the_caller_stays_where_it_is() {
    let Some(other) = namespace() else { return };
    let before = inode(&Namespace::current().unwrap());
    let inside = other.enter(|| Ok(inode(&Namespace::current()?))).unwrap();
    assert_eq!(inside, inode(&other));
    assert_ne!(inside, before);
    assert_eq!(inode(&Namespace::current().unwrap()), before);
}

#[test]
fn a_new_namespace_has_a_loopback_device_that_is_up() {
    let Some(other) = namespace() else { return };
    other
        .enter(|| {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            Ok(())
        })
        .unwrap();
}

#[test]
fn errors_of_the_work_come_back() {
    let Some(other) = namespace() else { return };
    let error = other.enter(|| Err::<(), _>(Error::new("no"))).unwrap_err();
    assert_eq!(error.to_string(), "no");
}
